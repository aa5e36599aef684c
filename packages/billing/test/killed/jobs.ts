import type { BillableUser, Billing } from '../../src/index.ts'

/** A job as JSON, for another process or for this one. */
export interface Job {
  readonly job: keyof typeof jobs
  readonly [more: string]: unknown
}

interface Asked {
  readonly billing: Billing
  readonly user: BillableUser
  /** Sends a report to the test. */
  readonly report: (message: object) => void
  readonly card?: string
  readonly plan?: string
  /** Calls of the builder: method names with their arguments. */
  readonly terms?: readonly (readonly [string, ...unknown[]])[]
  readonly of?: keyof typeof objects
  readonly method?: string
  readonly args?: readonly unknown[]
  readonly codes?: readonly string[]
  readonly times?: number
  readonly id?: string
  /** Id of the user whose customer is transferred. */
  readonly from?: number
  readonly path?: string
  readonly body?: string
  readonly headers?: Record<string, string>
}

/** Runs a job. After a lost response, callers run the same job again. */
export async function doJob(
  { billing, report }: Pick<Asked, 'billing' | 'report'>,
  { job, ...asked }: Job & Partial<Pick<Asked, 'user' | 'card'>>,
): Promise<void> {
  await jobs[job]({ ...asked, billing, report } as Asked)
}

/** The objects whose methods a job can call. */
const objects = {
  user: async (user: BillableUser): Promise<unknown> => user,
  subscription: (user: BillableUser): Promise<unknown> => user.subscription('main'),
  invoice: async (user: BillableUser): Promise<unknown> =>
    (await user.invoicesIncludingPending())[0],
}

async function ask({ user, of = 'user', method = '', args = [] }: Asked): Promise<unknown> {
  return call(await objects[of](user), method, args)
}

const jobs = {
  create: ({ user, card, plan = 'monthly', terms = [] }: Asked) =>
    (
      terms.reduce<unknown>(
        (built, [method, ...args]) => call(built, method, args),
        user.newSubscription('main', plan),
      ) as ReturnType<BillableUser['newSubscription']>
    ).create(card),
  /** Calls a method of the user, of the subscription `main`, or of the newest invoice. */
  ask,
  /** Like `ask`, where PaymentActionRequired is an expected result. */
  askBank: (asked: Asked) =>
    ask(asked).catch((error: { readonly code?: string }) => {
      if (error.code !== 'payment_action_required') throw error
    }),
  /** Transfers the customer of another user to this one. */
  transfer: async ({ billing, from = 0, user }: Asked) =>
    (await billing.user(from)).transferTo(user),
  async createOften({ user, card, times = 1, report }: Asked) {
    const create = () => user.newSubscription('main', 'monthly').create(card)
    const made = await Promise.all(Array.from({ length: times }, create))
    report({ made: made.map(({ providerId }) => providerId) })
  },
  async guess({ user, codes = [], report }: Asked) {
    const guess = (code: string) =>
      user.findPromotionCode(code).then(
        () => 'asked',
        (error: { readonly code: string }) => error.code,
      )
    report({ made: await Promise.all(codes.map(guess)) })
  },
  async use({ user, id, times = 1, billing }: Asked) {
    const use = () => user.reportUsage('calls', 5, id === undefined ? {} : { id })
    await Promise.all(Array.from({ length: times }, use))
    await billing.process()
  },
  chargeUsage: ({ billing }: Asked) => billing.process(),
  tell: ({ billing }: Asked) => billing.process(),
  async sellAndTell({ user, args = [], billing }: Asked) {
    await call(user, 'invoiceFor', args)
    await billing.process()
  },
  async receive({ path, body, headers, report, billing }: Asked) {
    const url = `https://app.example.com${path}`
    const request = new Request(url, { method: 'POST', body: body ?? '', headers: headers ?? {} })
    report({ answered: (await billing.fetch(request)).status })
    await billing.process()
  },
}

/** Returns the tax percentage in a name: 20 for `Taxed 20`. */
export function taxByName(name: string): number {
  return Number(/^Taxed (\d+)$/.exec(name)?.[1] ?? 0)
}

type Method = (...args: unknown[]) => unknown

/** Calls a method. Dates in the arguments are written as `{ date }`, because JSON has none. */
function call(of: unknown, method: string, args: readonly unknown[]): unknown {
  const asked = of as Record<string, Method | undefined>
  const given = args.map((arg) => {
    const { date } = (arg ?? {}) as { readonly date?: string }
    return date === undefined ? arg : new Date(date)
  })
  return asked[method]?.(...given)
}
