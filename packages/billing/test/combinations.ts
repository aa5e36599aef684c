/** Returns every combination of the values, one of each dimension. */
export function allCombinations<T extends Record<string, unknown>>(
  values: {
    readonly [K in keyof T]: readonly T[K][]
  },
): T[] {
  let rows: Partial<T>[] = [{}]
  for (const [key, choices] of Object.entries(values) as [keyof T, readonly T[keyof T][]][]) {
    rows = rows.flatMap((row) => choices.map((choice) => ({ ...row, [key]: choice })))
  }
  return rows as T[]
}

/**
 * Chooses a few combinations so that every two values of different dimensions occur together in at
 * least one (pairwise testing). Most bugs need at most two particular values to meet.
 */
export function pairwise<T extends Record<string, unknown>>(rows: readonly T[]): T[] {
  const pairs = numberPairs(rows)
  const isMissing: boolean[] = []
  for (const own of pairs) for (const pair of own) isMissing[pair] = true
  const chosen: T[] = []
  for (;;) {
    let best = { at: -1, found: 0 }
    for (const [at, own] of pairs.entries()) {
      let found = 0
      for (const pair of own) if (isMissing[pair]) found += 1
      if (found > best.found) best = { at, found }
    }
    const row = rows[best.at]
    if (!row) return chosen
    chosen.push(row)
    for (const pair of pairs[best.at] ?? []) isMissing[pair] = false
  }
}

/**
 * Numbers the pairs of values in each row. Numbers make the search fast: it compares all of the ten
 * thousand rows for each row that it chooses.
 */
function numberPairs(rows: readonly Record<string, unknown>[]): number[][] {
  const values = new Map<string, number>()
  const numbered = rows.map((row) =>
    Object.entries(row).map(([key, value]) => {
      const name = `${key}=${value}`
      const number = values.get(name) ?? values.size
      values.set(name, number)
      return number
    }),
  )
  return numbered.map((row) => {
    const pairs: number[] = []
    for (const [at, one] of row.entries()) {
      for (const other of row.slice(at + 1)) pairs.push(one * values.size + other)
    }
    return pairs
  })
}
