/**
 * A child process that serves one subject for one row. It tells its parent the port and the seed
 * (what a client needs to know), and afterwards how much processor time it has used.
 */
const { subject, folder, row, databaseUrl } = JSON.parse(process.argv[2])

/**
 * Where nobody signs in. A process that has approved clients for people, and called itself to do so, takes about a
 * tenth longer for a token from then on; half of it comes of `fetch`, which is no server's work.
 */
const withoutPeople = ['issue', 'introspect', 'guarded', 'dpop', 'discovery']

process.on('disconnect', () => process.exit())
process.on('message', (message) => {
  if (message === 'usage') process.send({ usage: process.cpuUsage() })
})

try {
  const { start } = await import(`${folder ?? '.'}/subjects/${subject}.mjs`)
  const { server, seed, signIn } = await start(row, { databaseUrl })
  server.keepAliveTimeout = 60_000
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  const cookies = withoutPeople.includes(row.workload)
    ? undefined
    : await signIn?.(`http://127.0.0.1:${port}`)
  process.send({ ready: { port, ...seed, cookies: cookies ?? seed?.cookies } })
} catch (error) {
  process.send({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
}
