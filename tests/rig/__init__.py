"""What tests share: stand-ins, fakes, real daemons and servers; samples and traces of real agents."""
