// Drawing: Preact's `h` by htm's templates. Text is always a text node; there is no way to markup from here.
//
// Not here: what is drawn (views/).

import { Component, h, render } from "./vendor/preact.module.js";
import htm from "./vendor/htm.module.js";

export const html = htm.bind(h);
export { Component, render };

// Drawn again only when one of its properties is another one: five hundred rows, one of which changed.
export class Part extends Component {
  shouldComponentUpdate(next) {
    const names = Object.keys(next);
    return names.length !== Object.keys(this.props).length || names.some((name) => next[name] !== this.props[name]);
  }

  render(props) {
    return this.draw(props);
  }
}

export function part(draw) {
  return class extends Part {
    draw(props) {
      return draw(props);
    }
  };
}
