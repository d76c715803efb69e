// What a page shows, in one place. Views subscribe to the names that they depend on.

/** A state, and the views that follow it. */
export class Store {
  constructor(state) {
    this.state = state;
    this.views = [];
  }

  /** Call `view` now and whenever one of these names gets another value. */
  follow(names, view) {
    this.views.push([names, view]);
    view(this.state);
  }

  /** Call `react` whenever one of these names gets another value. */
  on(names, react) {
    this.views.push([names, react]);
  }

  /** Change some values; views are called once each. */
  set(change) {
    const names = Object.keys(change).filter((name) => this.state[name] !== change[name]);
    if (!names.length) return;
    Object.assign(this.state, change);
    for (const [wanted, view] of [...this.views]) {
      if (wanted.some((name) => names.includes(name))) view(this.state);
    }
  }
}
