/** How long a hook of the application may take, in milliseconds. */
export const HOOK_TIMEOUT = 2000

/** Rejects if a hook of the application does not finish in time, so that no request hangs. */
export async function withHookTimeout<T>(hook: string, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${hook} took longer than ${HOOK_TIMEOUT} ms`)),
      HOOK_TIMEOUT,
    )
    timer.unref?.()
  })
  try {
    return await Promise.race([work, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
