const SHOWN_AFTER = 1000

/**
 * Says on standard error what is being done, once it takes longer than a second, and how far it is.
 * @example
 * await withProgress('Purging', (tell) => purge((count) => tell(`${count} rows`)))
 */
export async function withProgress<T>(
  title: string,
  work: (tell: (howFar: string) => void) => Promise<T>,
): Promise<T> {
  const start = performance.now()
  let howFar = ''
  let shown = false
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - start) / 1000)
    process.stderr.write(`${title} … ${seconds} s${howFar ? `, ${howFar}` : ''}\n`)
    shown = true
  }, SHOWN_AFTER)
  try {
    const result = await work((text) => {
      howFar = text
    })
    if (shown) process.stderr.write(`${title}: done\n`)
    return result
  } finally {
    clearInterval(timer)
  }
}
