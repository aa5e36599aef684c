import { WaitedTooLong } from '../errors.ts'

interface Waiter {
  readonly enter: () => void
  readonly timer: NodeJS.Timeout
}

/** Admits one caller at a time, in the order of arrival. */
export class DatabaseMutex {
  #held = false
  readonly #waiting: Waiter[] = []

  get isFree(): boolean {
    return !this.#held
  }

  /**
   * Waits for at most `wait` milliseconds. Resolves with the function that admits the next caller.
   */
  async enter(wait: number): Promise<() => void> {
    if (this.#held) await this.#queue(wait)
    this.#held = true
    return () => this.#leave()
  }

  #queue(wait: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        enter: resolve,
        timer: setTimeout(() => {
          this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
          reject(new WaitedTooLong(`Waited ${wait} ms for earlier work on this database`))
        }, wait),
      }
      this.#waiting.push(waiter)
    })
  }

  /**
   * Admits the next waiting caller. `#held` stays true meanwhile, so that no new caller gets in
   * between.
   */
  #leave(): void {
    const next = this.#waiting.shift()
    if (!next) {
      this.#held = false
      return
    }
    clearTimeout(next.timer)
    next.enter()
  }
}
