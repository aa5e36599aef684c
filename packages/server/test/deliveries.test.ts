import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Receiver,
  SECRET,
  startReceiver,
  verify,
} from '../../../test-support/webhook-receiver.ts'
import { runCli } from '../src/program.ts'
import { startTestService, type TestService } from './support.ts'

let receiver: Receiver
let service: TestService
let environment: Record<string, string>
beforeAll(async () => {
  receiver = await startReceiver()
  const deliveries = {
    TOLLGATE_DELIVERIES_URL: receiver.url,
    TOLLGATE_DELIVERIES_SECRET: SECRET,
    TOLLGATE_DELIVERIES_TYPES: 'subscription.created',
  }
  service = await startTestService({ environment: deliveries, options: { keepDemo: true } })
  environment = {
    DATABASE_URL: service.databaseUrl,
    TOLLGATE_DATA_DIR: service.dataDir,
    TOLLGATE_URL: service.url,
    ...deliveries,
  }
})
afterAll(async () => {
  await service.stop()
  await receiver.close()
})

async function run(args: readonly string[], variables = environment) {
  const out: string[] = []
  const err: string[] = []
  const code = await runCli(args, variables, {
    stdout: { write: (text) => void out.push(text) },
    stderr: { write: (text) => void err.push(text) },
  })
  const stdout = out.join('')
  return { code, stdout, stderr: err.join(''), json: () => JSON.parse(stdout) }
}

const tollgate = (...args: readonly string[]) => run(['billing', 'deliveries', ...args])

interface Finding {
  readonly check: string
  readonly level: string
  readonly message: string
  readonly fix: string | null
}

async function findings(): Promise<Finding[]> {
  const { findings: all } = (await run(['doctor', '--json'])).json() as { findings: Finding[] }
  return all.filter(({ check }) => check === 'deliveries')
}

async function subscribe(email: string) {
  const { id } = await service.users.create({ email, password: 'correct horse' })
  const user = await service.billing.user(Number(id))
  await user.newSubscription('main', 'monthly').create('pm_card_visa')
  await service.billing.process()
}

describe('outgoing events of the service (threat W7)', () => {
  it('are signed, and reach an application on this machine', async () => {
    await subscribe('ada@example.com')
    const [one] = receiver.received
    expect(one && verify(SECRET, one)).toMatchObject({
      type: 'subscription.created',
      data: { subscription: { price: 'monthly' } },
    })
    expect(await findings()).toEqual([
      expect.objectContaining({
        level: 'ok',
        message: `subscription.created are sent to ${receiver.url}`,
      }),
    ])
  })

  it('are listed if their delivery failed, and can be sent again by a command', async () => {
    const before = receiver.received.length
    receiver.answer(410)
    await subscribe('grace@example.com')
    await subscribe('mary@example.com')
    expect(receiver.received).toHaveLength(before + 1)
    expect(await findings()).toContainEqual(
      expect.objectContaining({
        level: 'warning',
        message: `${receiver.url} answered 410 Gone, so its events are on hold`,
        fix: expect.stringContaining(`resend --endpoint ${receiver.url}`),
      }),
    )
    const listed = await tollgate('list', '--state', 'gone', '--json')
    expect(listed.json()).toHaveLength(2)
    expect(listed.stdout).not.toContain('payload')
    expect((await tollgate('list')).stdout).toContain('No event failed at every attempt')
    receiver.answer(200)
    const all = await tollgate('resend', '--endpoint', receiver.url, '--json')
    expect([all.code, all.json()]).toEqual([0, { resent: 2, waiting: [] }])
    expect(receiver.received).toHaveLength(before + 3)
    const [{ id }] = (await tollgate('list', '--state', 'done', '--json')).json()
    const again = await tollgate('resend', '--id', String(id), '--as', 'grace')
    expect(again.stdout).toContain('1 sent again')
    expect(receiver.received).toHaveLength(before + 4)
    const entries = await service.database.kysely
      .selectFrom('audit_entries')
      .selectAll()
      .where('outcome', '=', 'done')
      .orderBy('id')
      .execute()
    expect(entries.map((each) => [each.operation, each.subject_id])).toEqual([
      ['webhooks.resendAll', receiver.url],
      ['webhooks.resend', String(id)],
    ])
    expect(entries[1]?.actor_id).toBe('grace')
  })

  it('make the command that sends them again fail if they cannot be delivered', async () => {
    const [{ id }] = (await tollgate('list', '--state', 'done', '--json')).json()
    receiver.answer(500)
    const failed = await tollgate('resend', '--id', String(id))
    expect(failed.code).toBe(1)
    expect(failed.stdout).toContain(`Delivery ${id} has not succeeded: Error: It answered with 500`)
    expect(failed.stdout).toContain('The next attempt is at')
    receiver.answer(410)
    const gone = await tollgate('resend', '--id', String(id), '--json')
    const waiting = [expect.objectContaining({ id, state: 'gone' })]
    expect([gone.code, gone.json()]).toEqual([1, { resent: 1, waiting }])
    expect(gone.stdout).not.toContain('payload')
    receiver.answer(500)
    const all = await tollgate('resend', '--endpoint', receiver.url)
    expect(all.code).toBe(1)
    expect(all.stdout).toContain(
      `1 sent again; 1 still not delivered to ${receiver.url}. Reason for the newest: `,
    )
    expect(all.stdout).toContain('Error: It answered with 500')
    receiver.answer(200)
    expect((await tollgate('resend', '--id', String(id))).code).toBe(0)
  })

  it('are not sent again to an endpoint that was removed', async () => {
    const [{ id }] = (await tollgate('list', '--state', 'done', '--json')).json()
    const moved = { ...environment, TOLLGATE_DELIVERIES_URL: 'https://shop.example/events' }
    const before = receiver.received.length
    const { code, stderr } = await run(
      ['billing', 'deliveries', 'resend', '--id', String(id)],
      moved,
    )
    expect(code).toBe(2)
    expect(stderr).toContain(
      `Delivery ${id} is for the endpoint ${receiver.url}, which is not configured`,
    )
    expect(stderr).toContain('Configured endpoints: https://shop.example/events')
    expect(receiver.received).toHaveLength(before)
    expect((await tollgate('list', '--state', 'pending')).stdout).toContain('No event is pending')
  })

  it.each([
    [['resend'], 'Give --id or --endpoint'],
    [['resend', '--id', '1', '--endpoint', 'x'], 'Give --id or --endpoint'],
    [['resend', '--id', 'x'], 'is not a number'],
    [['resend', '--id', '987654'], 'There is no delivery 987654'],
    [
      ['resend', '--endpoint', 'x'],
      'There is no endpoint x. Configured endpoints: http://127.0.0.1',
    ],
    [['list', '--state', 'x'], '--state must be one of dead, gone, pending, done'],
  ])('are not sent again if the command has the invalid arguments %j', async (args, message) => {
    const { code, stderr } = await tollgate(...args)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })

  it('are deleted some time after they were delivered', async () => {
    const before = new Date(Date.now() + 60 * 24 * 3600 * 1000)
    expect(await service.billing.purge({ before })).toMatchObject({ deliveries: 3, events: 3 })
  })
})
