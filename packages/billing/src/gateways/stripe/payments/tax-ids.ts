import type Stripe from 'stripe'
import { InvalidTaxId, NoCustomer } from '../../../errors.ts'
import type { TaxExemption } from '../../contract/parts/money/tax.ts'
import type { NewTaxId, ProviderTaxId } from '../../contract/parts/money/tax-ids.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import type { StripeContext } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'

/** What a customer's tax depends on beside the address. */
export function stripeTaxIds(
  context: StripeContext,
): Pick<GatewayParts, 'taxIds' | 'taxExemptions'> {
  const { stripe } = context
  return {
    taxIds: {
      list: (customerId) => list(context, customerId),
      create: (taxId) => create(context, taxId),
      async remove(customerId, id) {
        try {
          await stripe.customers.deleteTaxId(customerId, id)
        } catch (error) {
          if (!isMissing(error)) throw error
        }
      },
    },
    taxExemptions: {
      async read(customerId) {
        const customer = await stripe.customers.retrieve(customerId)
        if (customer.deleted) throw new NoCustomer('The customer was deleted')
        return (customer.tax_exempt ?? 'none') as TaxExemption
      },
      async set(customerId, exemption) {
        await stripe.customers.update(customerId, { tax_exempt: exemption })
      },
    },
  }
}

async function list({ stripe }: StripeContext, customerId: string): Promise<ProviderTaxId[]> {
  const found: ProviderTaxId[] = []
  for await (const taxId of stripe.customers.listTaxIds(customerId, { limit: 100 })) {
    found.push(describe(taxId))
  }
  return found.reverse()
}

async function create(context: StripeContext, wanted: NewTaxId): Promise<ProviderTaxId> {
  const { customerId, type, value, operation } = wanted
  const find = async () =>
    (await list(context, customerId)).find((each) => each.type === type && each.value === value) ??
    null
  const before = await find()
  if (before) return before
  const params = { type, value } as Stripe.CustomerCreateTaxIdParams
  return once(
    `${operation}:tax_id`,
    async (request) => {
      try {
        return describe(await context.stripe.customers.createTaxId(customerId, params, request))
      } catch (error) {
        throw asInvalidType(error)
      }
    },
    find,
  )
}

/** A type that Stripe does not know is as wrong as a number that cannot be one. */
function asInvalidType(error: unknown): unknown {
  const { param, code, message } = error as Partial<Stripe.errors.StripeError>
  if (param !== 'type') return error
  return new InvalidTaxId(message ?? 'Stripe does not know this type of tax id', {
    provider: 'stripe',
    providerCode: code ?? null,
    cause: error,
  })
}

function describe(taxId: Stripe.TaxId): ProviderTaxId {
  const { id, type, value, country, verification } = taxId
  return {
    id,
    type,
    value,
    country,
    verification: (verification?.status ?? 'unavailable') as ProviderTaxId['verification'],
    raw: taxId,
  }
}
