import { TemporarilyUnavailable, TooManyRequests } from '@tollgate/oauth'
import type { QueuePolicy } from './policies.ts'

/** A caller that waits in a fair queue. */
export interface QueuedCaller {
  readonly network: string
  /**
   * Whether the caller is served before others, because they are signed in or the account was used
   * from their network before.
   */
  readonly isKnown: boolean
}

/**
 * Schedules password hashing, which occupies a CPU core for a while (threat L3). Networks take
 * turns, so that one with many requests delays only itself, and known networks go first. The length
 * of the queue and the time in it are limited.
 */
export interface FairQueue {
  run<T>(caller: QueuedCaller, work: () => Promise<T>): Promise<T>
}

interface QueueEntry {
  readonly start: () => void
  readonly refuse: (error: Error) => void
}

interface Network {
  running: number
  readonly known: QueueEntry[]
  readonly strangers: QueueEntry[]
}

type Queue = 'known' | 'strangers'

export function createFairQueue(policy: QueuePolicy): FairQueue {
  // Ordered by turn: a network that was served moves to the end.
  const networks = new Map<string, Network>()
  let running = 0
  let waiting = 0

  function startNext(): void {
    while (running < policy.maxRunning) {
      const next = findNext('known') ?? findNext('strangers')
      if (!next) return
      const [name, network, queue] = next
      networks.delete(name)
      networks.set(name, network)
      begin(network)
      waiting -= 1
      network[queue].shift()?.start()
    }
  }

  function findNext(queue: Queue): readonly [string, Network, Queue] | null {
    for (const [name, network] of networks) {
      const mayRun = network.running < policy.maxRunningPerNetwork
      if (mayRun && network[queue].length > 0) return [name, network, queue]
    }
    return null
  }

  function begin(network: Network): void {
    network.running += 1
    running += 1
  }

  function end(name: string, network: Network): void {
    network.running -= 1
    running -= 1
    startNext()
    forgetIfEmpty(name, network)
  }

  function forgetIfEmpty(name: string, network: Network): void {
    if (countRunningAndQueued(network) === 0) networks.delete(name)
  }

  /**
   * Makes room in the queue by rejecting the newest entry of the network with the most. Returns
   * `false` if that is the newcomer's.
   */
  function makeRoom(newcomer: Network): boolean {
    if (waiting < policy.maxQueued) return true
    let largest = newcomer
    for (const each of networks.values())
      if (countQueued(each) > countQueued(largest)) largest = each
    if (largest === newcomer) return false
    waiting -= 1
    const refused = largest.strangers.pop() ?? largest.known.pop()
    refused?.refuse(busy())
    return true
  }

  function waitIn(network: Network, queue: Queue): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (done: () => void) => () => {
        clearTimeout(timer)
        done()
      }
      const entry: QueueEntry = {
        start: leave(resolve),
        refuse: (error) => leave(() => reject(error))(),
      }
      const timer = setTimeout(() => {
        network[queue].splice(network[queue].indexOf(entry), 1)
        waiting -= 1
        reject(busy())
      }, policy.timeout)
      network[queue].push(entry)
      waiting += 1
    })
  }

  return {
    async run({ network: name, isKnown }, work) {
      const network = networks.get(name) ?? { running: 0, known: [], strangers: [] }
      if (countRunningAndQueued(network) >= policy.maxPerNetwork) {
        throw new TooManyRequests('Too many attempts at once; try again later', {
          milliseconds: 1000,
        })
      }
      const isFree = running < policy.maxRunning && network.running < policy.maxRunningPerNetwork
      if (!isFree && !makeRoom(network)) throw busy()
      networks.set(name, network)
      if (isFree) begin(network)
      else {
        await waitIn(network, isKnown ? 'known' : 'strangers').catch((error) => {
          forgetIfEmpty(name, network)
          throw error
        })
      }
      try {
        return await work()
      } finally {
        end(name, network)
      }
    },
  }
}

function countQueued({ known, strangers }: Network): number {
  return known.length + strangers.length
}

function countRunningAndQueued(network: Network): number {
  return network.running + countQueued(network)
}

function busy(): TemporarilyUnavailable {
  return new TemporarilyUnavailable('Too many sign-ins at once; try again in a moment')
}
