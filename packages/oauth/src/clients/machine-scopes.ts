import { InvalidScope, ValidationFailed } from '../errors.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Client } from '../storage/records.ts'
import { parseScopeLimit } from './parse.ts'

/**
 * Rules for machine scopes (the option `machineScopes`): only a token of the client credentials
 * grant can have one, and only if the operator has named it for that client.
 */

type ScopeOptions = Pick<ResolvedOptions, 'scopeNames' | 'machineScopeNames'>

/** The fields of a client that decide whether it may have machine scopes. */
type MachineScopeFields = Pick<
  Client,
  'scopes' | 'confidential' | 'grantTypes' | 'userId' | 'settings'
>

/**
 * Parses the scopes that the operator gives to a client, machine scopes included.
 * @throws ValidationFailed if a scope is not defined
 */
export function parseClientScopes(
  scopes: readonly string[] | null | undefined,
  { scopeNames, machineScopeNames }: ScopeOptions,
): string[] | null {
  return parseScopeLimit(scopes, new Set([...scopeNames, ...machineScopeNames]))
}

/**
 * Checks, if the client has machine scopes, that it is of a kind that may have them.
 * @throws ValidationFailed if it may not
 */
export function assertMachineScopes(client: MachineScopeFields, options: ScopeOptions): void {
  const name = client.scopes?.find((each) => options.machineScopeNames.has(each))
  if (name === undefined) return
  const problem = findMachineScopeProblem(client)
  if (problem === null) return
  throw new ValidationFailed({ scopes: [`The machine scope '${name}' is ${problem}.`] })
}

/**
 * Requires that the client may request these machine scopes now.
 * @throws InvalidScope if it may not
 */
export function assertMayRequestMachineScopes(
  names: readonly string[],
  client: MachineScopeFields,
): void {
  const refused = names.find(
    (name) => !client.scopes?.includes(name) || findMachineScopeProblem(client) !== null,
  )
  if (refused === undefined) return
  throw new InvalidScope(`This client may not request the scope '${refused}'`)
}

function findMachineScopeProblem({
  confidential,
  grantTypes,
  userId,
  settings,
}: MachineScopeFields): string | null {
  if (settings.self_registered) return 'not available to self-registered clients'
  if (userId !== null) return 'not available to clients that belong to users'
  if (!confidential) return 'available to confidential clients only'
  if (!grantTypes.includes('client_credentials')) {
    return 'available only to clients with the grant client_credentials'
  }
  return null
}
