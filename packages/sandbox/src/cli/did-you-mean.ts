/**
 * Returns ` Did you mean <name>?` if a known name is similar to the given one, otherwise an empty
 * string.
 */
export function didYouMean(mistypedName: string, known: readonly string[]): string {
  const most = Math.max(1, Math.floor(mistypedName.length / 4))
  let nearest: { name: string; distance: number } | null = null
  for (const name of known) {
    const distance = distanceBetween(mistypedName.toLowerCase(), name.toLowerCase())
    if (distance <= most && (!nearest || distance < nearest.distance)) nearest = { name, distance }
  }
  return nearest ? ` Did you mean ${nearest.name}?` : ''
}

/** Edit distance: how many letters must be changed, added or removed. */
function distanceBetween(a: string, b: string): number {
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const now = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      now[column] = Math.min(
        (last[column] ?? 0) + 1,
        (now[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      )
    }
    last = now
  }
  return last[b.length] ?? 0
}
