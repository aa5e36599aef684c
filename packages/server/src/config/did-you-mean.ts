/**
 * Returns ` Did you mean <name>?` if one of the known names is similar to the given one, else an
 * empty string.
 */
export function didYouMean(mistypedName: string, known: readonly string[]): string {
  const most = Math.max(1, Math.floor(mistypedName.length / 4))
  const near = known
    .map((name) => ({
      name,
      distance: distanceBetween(mistypedName.toLowerCase(), name.toLowerCase()),
    }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)[0]
  return near ? ` Did you mean ${near.name}?` : ''
}

/** Edit distance: letters to change, insert, delete, or swap with their neighbour. */
function distanceBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const now = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      now[column] = Math.min(
        (last[column] ?? 0) + 1,
        (now[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = now
  }
  return last[b.length] ?? 0
}
