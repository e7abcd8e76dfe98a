/** Work that several ask for at the same time, done once. */
export class SharedWork<T> {
  readonly #underWay = new Map<string, Promise<T>>();
  readonly #next = new Map<string, Promise<T>>();

  /** A caller during a run shares the next run. */
  get(key: string, make: () => Promise<T>): Promise<T> {
    const underWay = this.#underWay.get(key);
    if (underWay === undefined) return this.#begin(key, make);
    let next = this.#next.get(key);
    if (next === undefined) {
      const begin = (): Promise<T> => {
        this.#next.delete(key);
        return this.#begin(key, make);
      };
      next = underWay.then(begin, begin);
      this.#next.set(key, next);
    }
    return next;
  }

  #begin(key: string, make: () => Promise<T>): Promise<T> {
    const made = make().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, made);
    return made;
  }
}
