import { TemporarilyUnavailable, TooManyRequests } from '@tollgate/oauth'
import type { TurnPolicy } from './policies.ts'

/** Whose turn it is. */
export interface TurnOf {
  readonly network: string
  /** Goes before strangers: the account was used from this network before, or somebody is signed in. */
  readonly isKnown: boolean
}

/**
 * Gives turns at hashing, which takes a whole core for a while (threat L3). Networks take turns, so that one with many
 * requests holds up nobody but itself, and known ones go first. Waiting is bounded in number and in time.
 */
export interface Turns {
  pass<T>(whose: TurnOf, work: () => Promise<T>): Promise<T>
}

interface Waiting {
  readonly start: () => void
  readonly refuse: (error: Error) => void
}

interface Network {
  running: number
  readonly known: Waiting[]
  readonly strangers: Waiting[]
}

type Queue = 'known' | 'strangers'

export function createTurns(policy: TurnPolicy): Turns {
  // In the order in which they have their turn: whoever had one goes to the end.
  const networks = new Map<string, Network>()
  let running = 0
  let waiting = 0

  function startNext(): void {
    while (running < policy.atOnce) {
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
      const mayRun = network.running < policy.atOnceOfOneNetwork
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
    if (sizeOf(network) === 0) networks.delete(name)
  }

  /** Makes room for one more: whoever has the most waiting loses the newest. False when the newcomer would be that one. */
  function makeRoom(newcomer: Network): boolean {
    if (waiting < policy.waiting) return true
    let largest = newcomer
    for (const each of networks.values()) if (waitingOf(each) > waitingOf(largest)) largest = each
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
      const waiter: Waiting = {
        start: leave(resolve),
        refuse: (error) => leave(() => reject(error))(),
      }
      const timer = setTimeout(() => {
        network[queue].splice(network[queue].indexOf(waiter), 1)
        waiting -= 1
        reject(busy())
      }, policy.patience)
      network[queue].push(waiter)
      waiting += 1
    })
  }

  return {
    async pass({ network: name, isKnown }, work) {
      const network = networks.get(name) ?? { running: 0, known: [], strangers: [] }
      if (sizeOf(network) >= policy.ofOneNetwork) {
        throw new TooManyRequests('Too many attempts at once; try again later', {
          milliseconds: 1000,
        })
      }
      const isFree = running < policy.atOnce && network.running < policy.atOnceOfOneNetwork
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

function waitingOf({ known, strangers }: Network): number {
  return known.length + strangers.length
}

function sizeOf(network: Network): number {
  return network.running + waitingOf(network)
}

function busy(): TemporarilyUnavailable {
  return new TemporarilyUnavailable('Too many sign-ins at once; try again in a moment')
}
