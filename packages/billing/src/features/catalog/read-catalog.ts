import type { BillingContext } from '../../core/context.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { CatalogCoupon, CatalogPrice } from './contract.ts'

/** Prices and coupons of one provider. */
export interface ProviderCatalog {
  /** The provider that sells at these prices. */
  readonly provider: ProviderName
  /** The prices that can be chosen for subscriptions. */
  readonly prices: readonly CatalogPrice[]
  /** The coupons. */
  readonly coupons: readonly CatalogCoupon[]
  /**
   * Whether both lists are complete. If not, the provider has more prices or coupons than were
   * read.
   */
  readonly complete: boolean
}

/** The largest number of prices, and of coupons, that are read. */
const LIMIT = 200

/** Reads the catalogs of all providers that can list them. */
export async function readCatalogs(context: BillingContext): Promise<ProviderCatalog[]> {
  const able = context.options.providers.all.filter(({ can }) => can.includes('catalog'))
  return Promise.all(able.map(({ name }) => readCatalog(context, name)))
}

async function readCatalog(
  context: BillingContext,
  provider: ProviderName,
): Promise<ProviderCatalog> {
  const catalog = requireGatewayPart(await context.gateway(provider), 'catalog')
  const [prices, coupons] = await Promise.all([
    catalog.listPrices(LIMIT + 1),
    catalog.listCoupons(LIMIT + 1),
  ])
  return {
    provider,
    prices: prices.slice(0, LIMIT),
    coupons: coupons.slice(0, LIMIT),
    complete: prices.length <= LIMIT && coupons.length <= LIMIT,
  }
}
