/** How long a hook of the application may take to answer, in milliseconds. */
export const PATIENCE = 2000

/** Rejects when a hook of the application has not answered in time, so that no request waits for ever. */
export async function withinPatience<T>(hook: string, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${hook} took longer than ${PATIENCE} ms`)), PATIENCE)
    timer.unref?.()
  })
  try {
    return await Promise.race([work, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
