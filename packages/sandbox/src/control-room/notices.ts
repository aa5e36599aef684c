const KEPT = 50

/**
 * Keeps the messages about submitted forms, which the page shows after a form has redirected to it.
 * The URL of the page contains only the number of the message.
 */
export class FormMessages {
  readonly #messages = new Map<string, string>()
  #last = 0

  keep(text: string): string {
    const id = String(++this.#last)
    this.#messages.set(id, text)
    if (this.#last > KEPT) this.#messages.delete(String(this.#last - KEPT))
    return id
  }

  /**
   * Returns a message by its number. The message is kept, so that a reload of the page shows it
   * again.
   */
  find(id: string | null): { text: string; isBad: boolean } | null {
    const text = id === null ? undefined : this.#messages.get(id)
    return text === undefined ? null : { text, isBad: false }
  }
}
