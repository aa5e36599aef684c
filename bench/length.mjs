import { bareRows, flatRows, frameworks } from './rows.mjs'

/** Seconds that a server takes to start on an idle machine. */
const toStart = 1
const toConnect = 0.05
/** Seconds to store a million tokens in each of two databases, for each store and subject. */
const toFill = 240
/** Columns of the guarded routes of all frameworks, in four processes each. */
const guardedColumns = 48

/**
 * Estimates the duration of a run.
 * @param {{ entries: number[], wants: (group: string) => boolean, own: string[], quick: boolean,
 * pace: import('./measure.mjs').Pace }} run `entries`: how many servers each row compares
 */
export function estimateMinutes({ entries, wants, own, quick, pace }) {
  const forServer = (rounds) =>
    toStart + pace.warmUp.atMost + rounds * (pace.leadIn + pace.seconds + toConnect)
  const half = Math.ceil(pace.rounds / 2)
  const rows = entries.reduce((sum, count) => sum + 2 * count * forServer(half), 0)
  const bare = Object.keys(bareRows).length * frameworks.length * forServer(pace.rounds)
  const flat = flatRows.length * own.length * 2 * forServer(pace.rounds) + (quick ? 30 : toFill)
  const seconds =
    rows +
    (wants('frameworks') ? bare + guardedColumns * forServer(half) : 0) +
    (wants('flatness') ? flat : 0)
  return seconds / 60
}

const longest = 45
const fewestRounds = 6

/**
 * Returns the number of rounds that fit in the time. With another checkout there is more to
 * compare.
 */
export function fitRounds(run) {
  let { rounds } = run.pace
  const minutesOf = (count) => estimateMinutes({ ...run, pace: { ...run.pace, rounds: count } })
  while (rounds > fewestRounds && minutesOf(rounds) > longest) rounds -= 2
  return rounds
}
