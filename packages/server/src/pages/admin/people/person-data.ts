import type { Context } from 'hono'
import type { OperatorActor } from '../../../admin/audit/caller.ts'
import type {
  ApplicationJson,
  FactorsJson,
  LinkJson,
  SessionJson,
  TokenJson,
} from '../../../admin/operations/access.ts'
import type { EventJson } from '../../../admin/operations/timeline.ts'
import type { accountJson } from '../../../admin/operations/users.ts'
import type { AppEnv } from '../../../http/variables.ts'
import type { SubscriptionFact } from '../../../users/account-billing.ts'
import { readAccountSubscriptions } from '../../../users/end-account.ts'
import { outranks } from '../../../users/roles.ts'
import {
  type BillingData,
  LIST_PREVIEW_LENGTH,
  type ListPage,
  type ListRange,
  type Payer,
  readBillingData,
} from '../billing/owner-data.ts'
import { runOperation } from '../parts.tsx'
import { pathOf } from './person-path.ts'

export type { EventJson }

/** A person as the operations return them. */
export type PersonJson = ReturnType<typeof accountJson>

/** A person as a customer, for the sections about billing. */
export interface PersonPayer extends Payer {
  readonly person: PersonJson
}

/** Everything that the page of a person shows. */
export interface PersonData extends BillingData {
  readonly person: PersonJson
  readonly factors: FactorsJson
  readonly sessions: readonly SessionJson[]
  readonly links: readonly LinkJson[]
  readonly applications: readonly ApplicationJson[]
  readonly tokens: readonly TokenJson[]
  readonly timeline: ListPage<EventJson>
}

/** Properties of each section of a person's page. */
export interface PersonSectionProps {
  readonly data: PersonData
  /** Whether the operator may call an operation on this person. */
  readonly can: (operation: string) => boolean
}

/**
 * Reads a person.
 * @throws AdminProblem `not-found`
 */
export function readPerson(c: Context<AppEnv>, id: string): Promise<PersonJson> {
  return runOperation<PersonJson>(c, 'users.get', { id })
}

/** Reads a person as a customer. */
export async function readPersonPayer(c: Context<AppEnv>, id: string): Promise<PersonPayer> {
  return toPayer(await readPerson(c, id))
}

function toPayer(person: PersonJson): PersonPayer {
  const { id, email, provider } = person
  return { person, owner: id, id, name: email, path: pathOf(id), provider }
}

/** Reads a person, with all data that the page shows. */
export async function readPersonData(c: Context<AppEnv>, id: string): Promise<PersonData> {
  const payer = await readPersonPayer(c, id)
  const list = async <Entry>(name: string) =>
    (await runOperation<{ data: readonly Entry[] }>(c, name, { id })).data
  const [factors, sessions, links, applications, tokens, timeline, billing] = await Promise.all([
    runOperation<FactorsJson>(c, 'users.getFactors', { id }),
    list<SessionJson>('users.listSessions'),
    list<LinkJson>('users.listLinks'),
    list<ApplicationJson>('users.listApplications'),
    list<TokenJson>('users.listTokens'),
    readTimeline(c, id, { limit: LIST_PREVIEW_LENGTH }),
    readBillingData(c, payer),
  ])
  const access = { factors, sessions, links, applications, tokens }
  return { person: payer.person, ...access, timeline, ...billing }
}

export function readTimeline(c: Context<AppEnv>, id: string, from: ListRange) {
  return runOperation<ListPage<EventJson>>(c, 'users.listTimeline', { id, ...from })
}

/** Reads the subscriptions from our tables. */
export async function readSubscriptionDetails(
  c: Context<AppEnv>,
  id: string,
): Promise<readonly SubscriptionFact[]> {
  const { users, admin } = c.get('page').service
  const account = await users.findAccount(id)
  return account ? readAccountSubscriptions(admin.billing, account) : []
}

/** Returns why an operator cannot act on a person. `null` if the operator can. */
export function findActionObstacle(
  { id, role }: OperatorActor,
  person: PersonJson,
): 'people.own' | 'people.outranked' | null {
  if (id === person.id) return 'people.own'
  return outranks(role, person.role) ? null : 'people.outranked'
}
