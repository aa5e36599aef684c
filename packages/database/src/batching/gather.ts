export interface Rounds<Item, Result> {
  /** Milliseconds. A round that takes longer waits for a disk or for somebody's lock, and the next begins. */
  readonly patience: number
  /** All of them or none. Leaves out the result of an item that has to be tried alone. */
  together(items: readonly Item[]): Promise<ReadonlyArray<Result | undefined>>
  alone(item: Item): Promise<Result>
  /** Whether a round that failed like this may have been done all the same, lost with its connection. */
  mayBeDone(error: unknown): boolean
}

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** In one round: a transaction that goes on for long would keep other writers waiting. */
const AT_MOST = 100

/**
 * For work that many callers ask for at the same time: what comes while a round is under way goes
 * together in the next. Whoever comes alone is served at once and alone.
 */
export function gather<Item, Result>(
  rounds: Rounds<Item, Result>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let going = false

  async function go(): Promise<void> {
    while (waiting.length > 0) {
      const round = waiting.slice(0, AT_MOST)
      waiting = waiting.slice(AT_MOST)
      await atMost(rounds.patience, serve(round))
    }
    going = false
  }

  async function serve(round: readonly Waiting<Item, Result>[]): Promise<void> {
    if (round.length === 1) return serveAlone(round)
    let results: ReadonlyArray<Result | undefined>
    try {
      results = await rounds.together(round.map(({ item }) => item))
    } catch (error) {
      // One that cannot be done must not take the others with it.
      if (!rounds.mayBeDone(error)) return serveAlone(round)
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
      round.map(({ item, resolve, reject }) => rounds.alone(item).then(resolve, reject)),
    )
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (going) return
      going = true
      // Everything that has arrived is read first.
      setImmediate(() => void go())
    })
}

function atMost(milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
