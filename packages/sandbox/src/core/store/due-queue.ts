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
  /** What holds for each key. The heap also has what held before. */
  readonly #current = new Map<string, Entry>()
  #heap: Entry[] = []
  #entered = 0

  /** `null` takes the key out. Whose key it is does not matter to one queue. */
  set(key: string, due: number | null, _row?: unknown): void {
    const before = this.#current.get(key)
    if (due === null) {
      if (before) this.#current.delete(key)
      return
    }
    if (before?.due === due) return
    const entry = { due, order: before?.order ?? this.#entered++, key }
    this.#current.set(key, entry)
    this.#push(entry)
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
    this.#heap = []
    this.#entered = 0
  }

  #peek(): Entry | null {
    for (;;) {
      const first = this.#heap[0]
      if (!first) return null
      if (this.#current.get(first.key) === first) return first
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

/**
 * Due queues side by side, one for each clock that rows live by; null is the sandbox's own. A row never moves
 * to another clock.
 */
export class DueQueues<T> {
  readonly #queues = new Map<string | null, DueQueue>()
  readonly #clockOf: (row: T) => string | null

  constructor(clockOf: (row: T) => string | null) {
    this.#clockOf = clockOf
  }

  of(clock: string | null): DueQueue {
    let queue = this.#queues.get(clock)
    if (!queue) {
      queue = new DueQueue()
      this.#queues.set(clock, queue)
    }
    return queue
  }

  /** Without the row the key is taken out, whose ever it was. */
  set(key: string, due: number | null, row?: T): void {
    if (row !== undefined) this.of(this.#clockOf(row)).set(key, due)
    else for (const queue of this.#queues.values()) queue.set(key, null)
  }

  /** Whoever holds one of the queues holds it still. */
  clear(): void {
    for (const queue of this.#queues.values()) queue.clear()
  }
}
