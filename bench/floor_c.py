"""The floor in C: epoll on pidfds and nothing else, compiled when the machine has a compiler."""

import shutil
import subprocess
from pathlib import Path

SOURCE = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(void){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec+t.tv_nsec/1e9;}
int main(int argc,char**argv){
  int watched=atoi(argv[1]),kills=atoi(argv[2]);double pause=atof(argv[3]);int all=watched+kills;
  struct rlimit limit;getrlimit(RLIMIT_NOFILE,&limit);limit.rlim_cur=limit.rlim_max;setrlimit(RLIMIT_NOFILE,&limit);
  int poll=epoll_create1(0);pid_t*pids=calloc(all,sizeof*pids);int*fds=calloc(all,sizeof*fds);
  for(int i=0;i<all;i++){
    if(!(pids[i]=fork())){for(;;)sleep(1000);}
    fds[i]=syscall(SYS_pidfd_open,pids[i],0);
    struct epoll_event e={.events=EPOLLIN,.data.u32=i};epoll_ctl(poll,EPOLL_CTL_ADD,fds[i],&e);
  }
  sleep(1);
  for(int i=0;i<all;i++){
    if(i<kills){
      struct timespec t={0,(long)(pause*1e9)};nanosleep(&t,0);
      double began=now();kill(pids[i],SIGKILL);
      struct epoll_event e;epoll_wait(poll,&e,1,-1);
      printf("%.9f\n",now()-began);
      epoll_ctl(poll,EPOLL_CTL_DEL,fds[i],0);
    }else kill(pids[i],SIGKILL);
    waitpid(pids[i],0,0);
  }
  return 0;
}
"""


def measure(directory: Path, watched: int, kills: int, pause: float) -> list[float]:
    """Seconds from each kill to its event; empty without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return []
    source, program = directory / "floor.c", directory / "floor"
    source.write_text(SOURCE)
    subprocess.run([compiler, "-O2", "-w", "-o", str(program), str(source)], check=True)
    done = subprocess.run(
        [str(program), str(watched), str(kills), str(pause)], check=True, capture_output=True, text=True
    )
    return [float(line) for line in done.stdout.split()]
