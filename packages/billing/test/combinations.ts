/** Every combination of the values, one of each dimension. */
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
 * Few of them, with every two values of different dimensions together in at least one. Most mistakes
 * need no more than two values that meet, so that these find nearly all of what the whole table does.
 */
export function pairwise<T extends Record<string, unknown>>(rows: readonly T[]): T[] {
  const pairsOf = (row: T): string[] => {
    const keys = Object.keys(row)
    return keys.flatMap((a, at) => keys.slice(at + 1).map((b) => `${a}=${row[a]} ${b}=${row[b]}`))
  }
  const missing = new Set(rows.flatMap(pairsOf))
  const chosen: T[] = []
  while (missing.size > 0) {
    let best: { row: T; found: number } | null = null
    for (const row of rows) {
      const found = pairsOf(row).filter((pair) => missing.has(pair)).length
      if (found > (best?.found ?? 0)) best = { row, found }
    }
    if (!best) break
    chosen.push(best.row)
    for (const pair of pairsOf(best.row)) missing.delete(pair)
  }
  return chosen
}
