import { InvalidArgument } from '../../core/errors/errors.ts'
import { beginOperation, finishOperation, runOperation } from '../../core/operation.ts'
import type { UserScopeWith } from '../../core/user-scope.ts'
import { requireText } from '../../core/values/arguments.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { withEnsuredCustomer, withExistingCustomer } from '../customers/customer.ts'
import type { TaxExemption } from './contract.ts'
import type { ProviderTaxId } from './tax-ids-contract.ts'

/** A tax id of a customer, such as a VAT number. */
export type TaxId = ProviderTaxId

export async function listTaxIds(user: UserScopeWith<'taxIds'>): Promise<TaxId[]> {
  const customerId = await user.findCustomerId()
  return customerId === null ? [] : (await user.gateway()).taxIds.list(customerId)
}

export async function findTaxId(user: UserScopeWith<'taxIds'>, id: string): Promise<TaxId | null> {
  return (await listTaxIds(user)).find((each) => each.id === id) ?? null
}

/**
 * Adds a tax id to the user's customer. An operation is stored before the request, so that a retry
 * after a lost response uses the same idempotency key.
 */
export async function createTaxId(
  user: UserScopeWith<'taxIds'>,
  type: string,
  value: string,
): Promise<TaxId> {
  const wanted = {
    type: requireText('type of tax id', type),
    value: requireText('tax id', value.trim()),
  }
  const { context, owner, provider } = user
  return withEnsuredCustomer(user, async (locked, customerId) => {
    const request = { provider, ...wanted }
    const operation = await beginOperation(context, locked, { owner, kind: 'tax_id', request })
    return runOperation(context, locked, operation, async () => {
      const made = await locked.change(provider, (gateway) =>
        requireGatewayPart(gateway, 'taxIds').create({
          customerId,
          ...wanted,
          operation: operation.id,
        }),
      )
      await finishOperation(context, locked, operation)
      return made
    })
  })
}

export async function deleteTaxId(user: UserScopeWith<'taxIds'>, id: string): Promise<void> {
  requireText('tax id', id)
  if ((await user.findCustomerId()) === null) return
  await withExistingCustomer(user, (locked, customerId) =>
    locked.change(user.provider, (gateway) =>
      requireGatewayPart(gateway, 'taxIds').remove(customerId, id),
    ),
  )
}

export async function readTaxExempt(user: UserScopeWith<'taxExemptions'>): Promise<TaxExemption> {
  const customerId = await user.findCustomerId()
  return customerId === null ? 'none' : (await user.gateway()).taxExemptions.read(customerId)
}

const EXEMPTIONS: readonly string[] = ['none', 'exempt', 'reverse'] satisfies TaxExemption[]

export async function setTaxExempt(
  user: UserScopeWith<'taxExemptions'>,
  exemption: TaxExemption,
): Promise<void> {
  if (!EXEMPTIONS.includes(exemption)) {
    throw new InvalidArgument(`'${exemption}' is not one of ${EXEMPTIONS.join(', ')}`)
  }
  await withEnsuredCustomer(user, (locked, customerId) =>
    locked.change(user.provider, (gateway) =>
      requireGatewayPart(gateway, 'taxExemptions').set(customerId, exemption),
    ),
  )
}
