interface Entry {
  readonly due: number
  readonly order: number
  readonly key: string
}

/**
 * Keys of objects, ordered by the time at which they are due. Keys due at the same time come in the
 * order in which they were first added. Implemented as a binary heap with lazy deletion.
 */
export class DueQueue {
  /** The valid entry of each key. The heap also contains outdated entries. */
  readonly #current = new Map<string, Entry>()
  #heap: Entry[] = []
  #entered = 0

  /**
   * Sets when a key is due, in epoch milliseconds. `null` removes the key. `_row` is unused: it
   * gives `DueQueue` and `CombinedDueQueue` the same signature.
   */
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

  /**
   * Returns the first key that is due at the time `at` or earlier, or `null` if none is due. The
   * key stays in the queue until `set` changes its time.
   */
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
 * One queue of due work for each clock: the Stripe test clocks, and `null` for the sandbox's own
 * clock. A row never moves to another clock.
 */
export class CombinedDueQueue<T> {
  readonly #queues = new Map<string | null, DueQueue>()
  readonly #clockOf: (row: T) => string | null

  constructor(clockOf: (row: T) => string | null) {
    this.#clockOf = clockOf
  }

  queueOfClock(clock: string | null): DueQueue {
    let queue = this.#queues.get(clock)
    if (!queue) {
      queue = new DueQueue()
      this.#queues.set(clock, queue)
    }
    return queue
  }

  /**
   * Sets when the job of a row is due, in epoch milliseconds, in the queue of the clock that the row
   * belongs to. `key` is the row's primary key. If `row` is missing because it was deleted, removes
   * the key from every queue.
   */
  set(key: string, due: number | null, row?: T): void {
    if (row !== undefined) this.queueOfClock(this.#clockOf(row)).set(key, due)
    else for (const queue of this.#queues.values()) queue.set(key, null)
  }

  /** Empties the queues but keeps the objects, because callers hold references to them. */
  clear(): void {
    for (const queue of this.#queues.values()) queue.clear()
  }
}
