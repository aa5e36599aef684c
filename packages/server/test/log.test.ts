import { afterAll, beforeAll, expect, it } from 'vitest'
import { runFlowWithSecrets } from './flow-with-secrets.ts'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ config: { logLevel: 'debug' } })
})
afterAll(() => service.stop())

it('the log of a complete sign-in and token flow contains one line per request, and no secret (threat M3)', async () => {
  const { secrets, failWith } = await runFlowWithSecrets(service)
  // An internal error, with secrets in its message.
  service.logger.error({ err: new Error(failWith) }, 'failed')

  const log = service.log()
  for (const each of secrets) {
    expect(log.includes(each), `the log holds ${each.slice(0, 12)}…`).toBe(false)
  }
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const token = lines.find(({ path }) => path === '/oauth/token')
  expect(token).toMatchObject({ level: 'info', method: 'POST', status: 200, address: '127.0.0.1' })
  expect(lines.filter(({ path }) => path === '/stripe/webhook').length).toBeGreaterThan(2)
})

it('the id of a request is in its response and in its log line, and callers cannot choose it', async () => {
  const ids = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const headers = { 'x-request-id': 'chosen-by-the-caller' }
      return (await fetch(`${service.url}/api/user`, { headers })).headers.get('x-request-id')
    }),
  )
  expect(new Set(ids).size).toBe(5)
  expect(ids).not.toContain('chosen-by-the-caller')
  const log = service.log()
  for (const id of ids) expect(log).toContain(`"request_id":"${id}"`)
})
