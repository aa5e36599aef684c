const KEPT = 50

/** What forms have done, to be said on the page they lead back to. Only its number is in the address. */
export class Notices {
  readonly #said = new Map<string, string>()
  #last = 0

  keep(text: string): string {
    const id = String(++this.#last)
    this.#said.set(id, text)
    if (this.#last > KEPT) this.#said.delete(String(this.#last - KEPT))
    return id
  }

  /** It stays for a reload, which would look odd without it. */
  find(id: string | null): { text: string; isBad: boolean } | null {
    const text = id === null ? undefined : this.#said.get(id)
    return text === undefined ? null : { text, isBad: false }
  }
}
