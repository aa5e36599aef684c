import type { Context } from 'hono'
import type { OperatorActor } from '../../../admin/audit/caller.ts'
import type { ApplicationJson, SessionJson, TokenJson } from '../../../admin/operations/access.ts'
import type { accountJson } from '../../../admin/operations/users.ts'
import type { AppEnv } from '../../../http/variables.ts'
import type { SubscriptionFact } from '../../../users/account-billing.ts'
import { subscriptionsOf } from '../../../users/end-account.ts'
import { outranks } from '../../../users/roles.ts'
import { runOperation } from '../parts.tsx'

/** A person as the operations return them. */
export type PersonJson = ReturnType<typeof accountJson>

/** Everything that the page of a person shows. */
export interface PersonData {
  readonly person: PersonJson
  readonly sessions: readonly SessionJson[]
  readonly applications: readonly ApplicationJson[]
  readonly tokens: readonly TokenJson[]
  readonly subscriptions: readonly SubscriptionFact[]
}

/** @throws AdminProblem `not-found` */
export function readPerson(c: Context<AppEnv>, id: string): Promise<PersonJson> {
  return runOperation<PersonJson>(c, 'users.get', { id })
}

/** Reads a person. Sends no request to a provider, so that the page works while one is away. */
export async function readPersonData(c: Context<AppEnv>, id: string): Promise<PersonData> {
  const person = await readPerson(c, id)
  const list = async <Entry>(name: string) =>
    (await runOperation<{ data: readonly Entry[] }>(c, name, { id })).data
  const [sessions, applications, tokens, subscriptions] = await Promise.all([
    list<SessionJson>('users.listSessions'),
    list<ApplicationJson>('users.listApplications'),
    list<TokenJson>('users.listTokens'),
    readSubscriptionFacts(c, id),
  ])
  return { person, sessions, applications, tokens, subscriptions }
}

export async function readSubscriptionFacts(
  c: Context<AppEnv>,
  id: string,
): Promise<readonly SubscriptionFact[]> {
  const { users, admin } = c.get('page').service
  const account = await users.findAccount(id)
  return account ? subscriptionsOf(admin.billing, account) : []
}

/** Why an operator cannot act on a person. `null` if nothing stands in the way. */
export function obstacleOf(
  { id, role }: OperatorActor,
  person: PersonJson,
): 'people.own' | 'people.outranked' | null {
  if (id === person.id) return 'people.own'
  return outranks(role, person.role) ? null : 'people.outranked'
}
