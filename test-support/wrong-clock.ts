/**
 * Returns arguments and environment for a Node process whose wall clock is this many milliseconds
 * ahead.
 */
export function withClockAhead(milliseconds: number): {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
} {
  const preload = new URL('./wrong-clock.mjs', import.meta.url)
  return {
    args: ['--import', preload.href],
    env: { CLOCK_AHEAD: String(milliseconds) },
  }
}
