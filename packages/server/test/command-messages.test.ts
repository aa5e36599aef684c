import { startSandbox } from '@tollgate/sandbox'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../src/program.ts'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ options: { keepDemo: true } })
})
afterAll(() => service.stop())

/** The output for a command as a person types it. */
async function readCommandOutput(command: string, more: Record<string, string> = {}) {
  const lines: string[] = []
  const paper = { write: (text: string) => void lines.push(text) }
  const environment = {
    DATABASE_URL: service.databaseUrl,
    TOLLGATE_DATA_DIR: service.dataDir,
    TOLLGATE_URL: service.url,
    ...more,
  }
  const code = await runCli(command.split(' '), environment, { stdout: paper, stderr: paper })
  return { code, read: lines.join('') }
}

const AWAY = {
  TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
  TOLLGATE_PREVIOUS_SECRET: 'Zk3uQm8vTe1xLr6yWc9oBd2fHn5jPs7a',
  STRIPE_SECRET: 'sk_test_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_1',
  STRIPE_API_URL: 'http://127.0.0.1:1',
}

it.each([
  ['serve --port abc', 2, "PORT is 'abc', but must be a whole number from 0 to 65535"],
  ['serve --port 99999', 2, "PORT is '99999', but must be a whole number from 0 to 65535"],
  ['nonsense', 2, '(tollgate --help lists the commands)'],
  ['user nonsense', 2, '(tollgate user --help lists its commands)'],
  ['user create --nonsense', 2, '(add --help for the options'],
  [
    'client revoke nobody',
    2,
    '"nobody": There is no such client. `tollgate client list` lists the known',
  ],
  [
    'client verify nobody',
    2,
    '"nobody": There is no such client. `tollgate client list` lists the known',
  ],
  ['billing webhooks replay --id evt_none', 1, 'There is no event "evt_none" in the inbox.'],
  ['billing deliveries list', 0, 'No event failed at every attempt.'],
  ['billing deliveries list --state gone', 0, 'No event is on hold'],
])('tollgate %s exits with %i and gives advice', async (command, code, words) => {
  const result = await readCommandOutput(command)
  expect(result.read).toContain(words)
  expect(result.code).toBe(code)
})

it('tollgate sandbox names the port that is already in use', async () => {
  const { port } = new URL(service.url)
  const { code, read } = await readCommandOutput(`sandbox --stripe-port ${port}`)
  expect([code, read]).toEqual([
    1,
    expect.stringContaining(`Port ${port} is taken; stop the program`),
  ])
})

it('tollgate user list gives advice when the database is unavailable', async () => {
  const DATABASE_URL = 'postgres://app:hunter2@127.0.0.1:1/app'
  const { code, read } = await readCommandOutput('user list', { DATABASE_URL })
  expect(read).toContain('Check DATABASE_URL, that the server is running')
  expect([code, read.includes('hunter2')]).toEqual([1, false])
})

it('tollgate doctor gives advice when a provider is unavailable, and does not report its prices as missing', async () => {
  const { code, read } = await readCommandOutput('billing webhooks check', AWAY)
  expect([code, read]).toEqual([1, expect.stringContaining('`tollgate doctor` checks both')])
  const doctor = await readCommandOutput('doctor', AWAY)
  expect(doctor.read).toContain('The prices of the plans could not be read from Stripe')
  expect(doctor.read).not.toContain('Stripe has no price')
})

it('tollgate doctor names prices that do not exist at Stripe, or cost something else there', async () => {
  const sandbox = await startSandbox({ stripe: true })
  const price = { id: 'pro', unitAmount: 1000, currency: 'eur', interval: 'year' } as const
  sandbox.stripe.seedPrice(price)
  const { apiKey: STRIPE_SECRET, url: STRIPE_API_URL } = sandbox.stripe
  const { read } = await readCommandOutput('doctor', { ...AWAY, STRIPE_SECRET, STRIPE_API_URL })
  expect(read).toContain('Stripe has no price monthly, yearly')
  expect(read).toContain('The price pro at Stripe costs 1000, not 2500')
  expect(read).toContain('The price pro at Stripe is in eur, not in usd')
  expect(read).toContain('The price pro at Stripe is charged every 12 months, not every 1 month')
  await sandbox.close()
})
