import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { render } from '../state/render.ts'
import type { TaxRateRow } from '../state/rows.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { nulls } from '../wire/wire.ts'

export const taxRates: Operations = {
  'TaxRates.create': op<Stripe.TaxRateCreateParams>((params, { work }) => {
    if (!(params.percentage >= 0 && params.percentage <= 100)) {
      throw invalidRequest('Invalid percentage: must be between 0 and 100', 'percentage')
    }
    if (!/^\d+(\.\d{1,4})?$/.test(String(params.percentage))) {
      throw invalidRequest('Invalid percentage: must have at most 4 decimal places', 'percentage')
    }
    const row: TaxRateRow = {
      ...nulls<Stripe.TaxRate>('tax_rate'),
      id: work.newId('txr_1'),
      object: 'tax_rate',
      active: params.active ?? true,
      country: params.country ?? null,
      created: work.now,
      description: params.description ?? null,
      display_name: params.display_name,
      effective_percentage: params.percentage,
      inclusive: params.inclusive,
      jurisdiction: params.jurisdiction ?? null,
      livemode: false,
      metadata: mergeMetadata({}, params.metadata),
      percentage: params.percentage,
      rate_type: 'percentage',
      state: params.state ?? null,
      tax_type: params.tax_type ?? null,
    }
    work.insert('tax_rate', row, 'tax_rate.created')
    return render('tax_rate', row, work.tables)
  }),

  'TaxRates.retrieve': op((_params, call) =>
    render('tax_rate', call.work.require('tax_rate', idOf(call)), call.work.tables),
  ),

  'TaxRates.update': op<Stripe.TaxRateUpdateParams>((params, call) => {
    const { work } = call
    const row = work.edit('tax_rate', work.require('tax_rate', idOf(call)))
    if (params.active !== undefined) row.active = params.active
    if (params.country !== undefined) row.country = params.country
    if (params.description !== undefined) row.description = params.description
    if (params.display_name !== undefined) row.display_name = params.display_name
    if (params.jurisdiction !== undefined) row.jurisdiction = params.jurisdiction
    if (params.state !== undefined) row.state = params.state
    if (params.tax_type !== undefined) row.tax_type = params.tax_type
    row.metadata = mergeMetadata(row.metadata, params.metadata)
    return render('tax_rate', row, work.tables)
  }),

  'TaxRates.list': op<Stripe.TaxRateListParams>((params, { work, path }) => {
    const rows = filterRows(
      work.tables.tax_rate.newestFirst(),
      (row) =>
        (params.active === undefined || row.active === params.active) &&
        (params.inclusive === undefined || row.inclusive === params.inclusive) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('tax_rate', row, work.tables))
  }),
}
