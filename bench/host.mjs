/**
 * Child process that serves one subject for one row. It sends its parent the port and the seed
 * (data that a client needs), and later its processor time.
 */
const { subject, folder, row, databaseUrl } = JSON.parse(process.argv[2])

/**
 * Rows without users. A process that has approved clients for users, by requesting its own pages,
 * takes about a tenth longer for each token from then on; half of that is caused by `fetch`, which
 * is not the server's work.
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
