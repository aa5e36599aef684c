import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument } from '../../core/errors/errors.ts'
import { formatValue, requireCount, requireOneOf } from '../../core/values/arguments.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type {
  Catalog,
  CatalogCoupon,
  CatalogPage,
  CatalogPrice,
  CatalogPromotionCode,
  CatalogRange,
} from './contract.ts'

/** Options for one page of a provider's catalog. */
export interface CatalogOptions {
  /** The provider whose catalog is read. */
  readonly provider: ProviderName
  /** Cursor: the `next` of the previous page. Left out for the first page. */
  readonly after?: string
  /** Number of entries to read for one page, at most 100. @default 100 */
  readonly limit?: number
}

/**
 * Reads the catalogs of the providers as they are now, one page at a time. Every call sends a
 * request to the provider.
 * @throws InvalidArgument for a provider that is not configured, or a cursor whose entry is gone.
 */
export interface CatalogReader {
  /** Lists the prices that can be chosen for subscriptions. Leaves out archived ones. */
  prices(options: CatalogOptions): Promise<CatalogPage<CatalogPrice>>
  /** Lists the coupons. At Braintree, these are the discounts. */
  coupons(options: CatalogOptions): Promise<CatalogPage<CatalogCoupon>>
  /** Lists the promotion codes, newest first. At Braintree the list is empty. */
  promotionCodes(options: CatalogOptions): Promise<CatalogPage<CatalogPromotionCode>>
}

/** The largest number of entries that providers return at once. */
const LARGEST_PAGE = 100

export function createCatalogs(context: BillingContext): CatalogReader {
  const { providers } = context.options

  async function open({
    provider,
    after = null,
    limit = LARGEST_PAGE,
  }: Omit<CatalogOptions, 'after'> & { readonly after?: string | null }): Promise<
    readonly [Catalog, CatalogRange]
  > {
    requireOneOf(
      'The provider',
      provider,
      providers.all.map(({ name }) => name),
    )
    if (requireCount(limit) > LARGEST_PAGE) {
      throw new InvalidArgument(`limit is ${limit}; expected at most ${LARGEST_PAGE}`)
    }
    if (after !== null && (typeof after !== 'string' || after === '')) {
      throw new InvalidArgument(
        `after is ${formatValue(after)}; expected the 'next' of an earlier page`,
      )
    }
    return [requireGatewayPart(await context.gateway(provider), 'catalog'), { limit, after }]
  }

  return {
    async prices(options) {
      const [catalog, range] = await open(options)
      return catalog.listPrices(range)
    },
    async coupons(options) {
      const [catalog, range] = await open(options)
      return catalog.listCoupons(range)
    },
    async promotionCodes(options) {
      const [catalog, range] = await open(options)
      return catalog.listPromotionCodes(range)
    },
  }
}

/** Makes the error for a cursor whose entry no longer exists. */
export function createUnknownCursorError(after: string | null): InvalidArgument {
  return new InvalidArgument(
    `after is ${formatValue(after)}, which does not exist any more: begin with the first page`,
  )
}
