/** How long a hook of the application may take, in milliseconds. */
export const HOOK_TIMEOUT_MS = 2000

/**
 * Waits for a function of the application (a hook). Rejects if it does not finish within two
 * seconds, so that no request hangs. `hook` is its name for the error message.
 */
export async function withHookTimeout<T>(hook: string, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${hook} took longer than ${HOOK_TIMEOUT_MS} ms`)),
      HOOK_TIMEOUT_MS,
    )
    timer.unref?.()
  })
  try {
    return await Promise.race([work, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
