import { setTimeout as sleep } from 'node:timers/promises'

/** What asking the server to stop came to. */
export type StopResult =
  /** The server heard it. */
  | 'heard'
  /** The server says that it has no such connection any more. */
  | 'gone'
  /** Nobody answered. */
  | 'silent'

/** A connection whose caller gave up while the server still owes an answer. */
export interface Unanswered {
  /** Resolves when the answer came after all, or the connection broke. */
  readonly answered: Promise<void>
  /** Asks the server, over another connection, to stop what it does for this one. */
  stop(): Promise<StopResult>
  /** Closes the connection and gives back its place in the pool. */
  close(): void
}

/** How many connections may be opened in the place of ones that the server may still keep. */
export const SPARE_CONNECTIONS = 2
/** Milliseconds an unanswered connection keeps its place when the network is silent. */
export const SILENCE = 3000
const ASK_AGAIN = 1000

/** What becomes of the place of an unanswered connection. */
export type Place = 'keep' | 'close' | 'replace'

/**
 * A place is kept while the server may still work for it: else every caller that gives up opens one
 * more connection, until the server has none left. `waited` is in milliseconds, `replaced` counts the
 * connections that were given a stand-in already.
 */
export function decidePlace(result: StopResult, waited: number, replaced: number): Place {
  if (result === 'gone') return 'close'
  if (waited < SILENCE) return 'keep'
  if (result === 'silent') return 'close'
  // The server is well and this one connection is not: its network path may be lost. A few of these
  // get a stand-in, so that a service whose connections all died so has some to go on with.
  return replaced < SPARE_CONNECTIONS ? 'replace' : 'keep'
}

export interface UnansweredConnections {
  /** Keeps the connection's place for as long as needed, then closes it. */
  hold(connection: Unanswered): void
  /** Closes them all, without waiting any longer. */
  close(): void
}

/** `allow(1)` lets the pool open one connection more than its size, `allow(-1)` takes that back. */
export function createUnansweredConnections(allow: (more: 1 | -1) => void): UnansweredConnections {
  const held = new Set<() => void>()
  let replaced = 0

  async function follow(connection: Unanswered): Promise<void> {
    const begun = performance.now()
    const pause = new AbortController()
    let isReplaced = false
    let finish = () => {}
    const over = new Promise<void>((resolve) => {
      finish = () => {
        pause.abort()
        resolve()
      }
    })
    held.add(finish)
    void connection.answered.then(finish)
    while (!pause.signal.aborted) {
      const stopped = connection.stop().catch((): StopResult => 'silent')
      const result = await Promise.race([stopped, over])
      if (!result) break
      const place = isReplaced ? 'keep' : decidePlace(result, performance.now() - begun, replaced)
      if (place === 'close') break
      if (place === 'replace') {
        isReplaced = true
        replaced++
        allow(1)
      }
      await sleep(ASK_AGAIN, undefined, { signal: pause.signal }).catch(() => {})
    }
    held.delete(finish)
    connection.close()
    if (!isReplaced) return
    replaced--
    allow(-1)
  }

  return {
    hold: (connection) => void follow(connection),
    close() {
      for (const finish of held) finish()
    },
  }
}
