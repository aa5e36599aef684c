const SHOW_AFTER = 1000

/** Receives the progress of the work, such as `20 rows`. */
export type Report = (progress: string) => void

/**
 * Runs the work, and prints its progress to standard error if it takes longer than a second.
 * @example
 * await withProgress('Purging', (report) => purge((count) => report(`${count} rows`)))
 */
export async function withProgress<T>(
  title: string,
  work: (report: Report) => Promise<T>,
): Promise<T> {
  const start = performance.now()
  let progress = ''
  let shown = false
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - start) / 1000)
    process.stderr.write(`${title} … ${seconds} s${progress ? `, ${progress}` : ''}\n`)
    shown = true
  }, SHOW_AFTER)
  try {
    const result = await work((text) => {
      progress = text
    })
    if (shown) process.stderr.write(`${title}: done\n`)
    return result
  } finally {
    clearInterval(timer)
  }
}
