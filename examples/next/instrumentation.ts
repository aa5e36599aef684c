/** Next calls this when the server starts, so that the first request does not have to wait. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { tollgate } = await import('@/lib/tollgate')
  await tollgate()
}
