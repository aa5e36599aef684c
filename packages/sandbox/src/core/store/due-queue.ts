interface Entry {
  readonly due: number
  readonly order: number
  readonly key: string
}

/**
 * Keys by the time they fall due: a binary heap with lazy deletion. Keys due at the same instant
 * come out in the order they first entered.
 */
export class DueQueue {
  readonly #current = new Map<string, number>()
  readonly #order = new Map<string, number>()
  #heap: Entry[] = []
  #entered = 0

  /** `null` takes the key out. */
  set(key: string, due: number | null): void {
    const before = this.#current.get(key)
    if (due === null) {
      if (before !== undefined) {
        this.#current.delete(key)
        this.#order.delete(key)
      }
      return
    }
    if (before === due) return
    this.#current.set(key, due)
    let order = this.#order.get(key)
    if (order === undefined) {
      order = this.#entered++
      this.#order.set(key, order)
    }
    this.#push({ due, order, key })
  }

  nextDue(): number | null {
    return this.#peek()?.due ?? null
  }

  /** The first key due at or before `at`; it stays queued until `set` moves it. */
  nextKey(at: number): string | null {
    const first = this.#peek()
    return first && first.due <= at ? first.key : null
  }

  clear(): void {
    this.#current.clear()
    this.#order.clear()
    this.#heap = []
    this.#entered = 0
  }

  #peek(): Entry | null {
    for (;;) {
      const first = this.#heap[0]
      if (!first) return null
      if (this.#current.get(first.key) === first.due && this.#order.get(first.key) === first.order)
        return first
      this.#pop()
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(entry)
    while (at > 0) {
      const parentAt = (at - 1) >> 1
      const parent = heap[parentAt] as Entry
      if (!isBefore(entry, parent)) break
      heap[at] = parent
      at = parentAt
    }
    heap[at] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let at = 0
    for (;;) {
      let childAt = at * 2 + 1
      if (childAt >= heap.length) break
      const right = heap[childAt + 1]
      if (right && isBefore(right, heap[childAt] as Entry)) childAt++
      const child = heap[childAt] as Entry
      if (!isBefore(child, last)) break
      heap[at] = child
      at = childAt
    }
    heap[at] = last
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order)
}
