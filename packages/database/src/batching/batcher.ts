export interface BatcherOptions<Item, Result> {
  /**
   * Milliseconds to wait for the running batch before the next one starts beside it. A batch is
   * slow if it waits for the disk, or for a lock of another transaction.
   */
  readonly patience: number
  /**
   * Executes a batch: all of its items or none. The result of an item is `undefined` if the item
   * must be retried alone.
   */
  together(items: readonly Item[]): Promise<ReadonlyArray<Result | undefined>>
  alone(item: Item): Promise<Result>
  /**
   * Whether the current caller runs in a unit of work, so that its item must not share a batch with
   * items of other callers.
   * @default false for every caller
   */
  isInUnitOfWork?(): boolean
  /**
   * Whether a batch that failed with this error may still have been committed, because the
   * connection was lost before the response arrived.
   */
  mayBeCommitted(error: unknown): boolean
}

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Largest number of items in one round: a long transaction would keep other writers waiting. */
const MAX_BATCH_SIZE = 100

/**
 * Creates a function that batches concurrent calls: items that arrive while a batch is running are
 * executed together in the next one. If no batch is running, an item is executed immediately.
 */
export function createBatcher<Item, Result>(
  options: BatcherOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let isRunning = false

  async function runRounds(): Promise<void> {
    while (waiting.length > 0) {
      const round = waiting.slice(0, MAX_BATCH_SIZE)
      waiting = waiting.slice(MAX_BATCH_SIZE)
      await waitAtMost(options.patience, serve(round))
    }
    isRunning = false
  }

  async function serve(round: readonly Waiting<Item, Result>[]): Promise<void> {
    if (round.length === 1) return serveAlone(round)
    let results: ReadonlyArray<Result | undefined>
    try {
      results = await options.together(round.map(({ item }) => item))
    } catch (error) {
      // An item that cannot be executed must not make the others fail.
      if (!options.mayBeCommitted(error)) return serveAlone(round)
      for (const { reject } of round) reject(error)
      return
    }
    const missed: Waiting<Item, Result>[] = []
    round.forEach((caller, index) => {
      const result = results[index]
      if (result === undefined) missed.push(caller)
      else caller.resolve(result)
    })
    await serveAlone(missed)
  }

  async function serveAlone(round: readonly Waiting<Item, Result>[]): Promise<void> {
    await Promise.all(
      round.map(({ item, resolve, reject }) => options.alone(item).then(resolve, reject)),
    )
  }

  return (item) => {
    if (options.isInUnitOfWork?.()) return options.alone(item)
    return new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (isRunning) return
      isRunning = true
      // Lets the event loop read all input that has already arrived, so that it joins this round.
      setImmediate(() => void runRounds())
    })
  }
}

function waitAtMost(milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
