import { mean, measure } from './measure.mjs'

const copies = 2

/**
 * Halves the rounds, for measurements in several processes: processes with equal code differ by
 * some percent for as long as they run, so additional processes are more useful than additional
 * rounds.
 */
export const withHalfTheRounds = (context) => ({
  ...context,
  pace: { ...context.pace, rounds: Math.ceil(context.pace.rounds / 2) },
})

/**
 * Measures every entry in two processes, for half as many rounds each. Returns the means.
 * @param {import('./measure.mjs').Entry[]} entries
 * @param {Parameters<typeof measure>[1]} context
 */
export async function measureCopies(entries, context) {
  const all = Array.from({ length: copies }, (_, copy) =>
    entries.map((entry) => ({ ...entry, column: `${entry.column} ${copy}` })),
  )
  const cells = await measure(all.flat(), withHalfTheRounds(context))
  const columns = entries.map(({ column }) => column)
  return Object.fromEntries(columns.map((column) => [column, combine(column, columns, cells)]))
}

function combine(column, columns, cells) {
  const found = Array.from({ length: copies }, (_, copy) => cells[`${column} ${copy}`])
  const failed = found.find(({ error }) => error)
  if (failed) return failed
  const meanOf = (read) => mean(found.map(read))
  const compared = columns.filter((other) => found.every(({ of }, copy) => of[`${other} ${copy}`]))
  return {
    perSecond: meanOf(({ perSecond }) => perSecond),
    of: Object.fromEntries(
      compared.map((other) => [other, meanOf(({ of }, copy) => of[`${other} ${copy}`])]),
    ),
    busy: meanOf(({ busy }) => busy),
    others: meanOf(({ others }) => others),
    microseconds: meanOf(({ microseconds }) => microseconds),
    p50: meanOf(({ p50 }) => p50),
    p99: meanOf(({ p99 }) => p99),
  }
}
