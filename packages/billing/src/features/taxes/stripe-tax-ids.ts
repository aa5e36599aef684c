import type Stripe from 'stripe'
import { InvalidTaxId, NoCustomer } from '../../core/errors/errors.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import { listAll, type StripeContext } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import type { TaxExemption } from './contract.ts'
import type { NewTaxId, ProviderTaxId } from './tax-ids-contract.ts'

/** Implements tax ids for Stripe. */
export function createStripeTaxIds(context: StripeContext): Pick<GatewayParts, 'taxIds'> {
  const { stripe } = context
  return {
    taxIds: {
      list: (customerId) => list(context, customerId),
      create: (taxId) => create(context, taxId),
      async remove(customerId, id) {
        try {
          await stripe.customers.deleteTaxId(customerId, id)
        } catch (error) {
          if (!isMissingObjectError(error)) throw error
        }
      },
    },
  }
}

async function list({ stripe }: StripeContext, customerId: string): Promise<ProviderTaxId[]> {
  const found = await listAll(stripe.customers.listTaxIds(customerId, { limit: 100 }))
  return found.map(describe).reverse()
}

async function create(context: StripeContext, taxIdToCreate: NewTaxId): Promise<ProviderTaxId> {
  const { customerId, type, value, operation } = taxIdToCreate
  const find = async () =>
    (await list(context, customerId)).find((each) => each.type === type && each.value === value) ??
    null
  const before = await find()
  if (before) return before
  const params = { type, value } as Stripe.CustomerCreateTaxIdParams
  return createIdempotently(
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

/** Converts Stripe's error for an unknown type to InvalidTaxId, the error for an invalid number. */
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

/** Implements tax exemptions for Stripe. */
export function createStripeTaxExemptions({
  stripe,
}: StripeContext): Pick<GatewayParts, 'taxExemptions'> {
  return {
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
