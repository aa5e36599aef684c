const KEPT = 50

/**
 * Messages about submitted forms, shown on the page that the form redirects to. The URL contains
 * only the number of a message.
 */
export class Notices {
  readonly #messages = new Map<string, string>()
  #last = 0

  keep(text: string): string {
    const id = String(++this.#last)
    this.#messages.set(id, text)
    if (this.#last > KEPT) this.#messages.delete(String(this.#last - KEPT))
    return id
  }

  /** Returns a message. It is kept, so that a reload of the page shows it again. */
  find(id: string | null): { text: string; isBad: boolean } | null {
    const text = id === null ? undefined : this.#messages.get(id)
    return text === undefined ? null : { text, isBad: false }
  }
}
