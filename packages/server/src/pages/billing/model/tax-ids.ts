/** The types of tax ids that people can choose from. Operators can add others. */
export const TAX_ID_TYPES = [
  'eu_vat',
  'gb_vat',
  'ch_vat',
  'no_vat',
  'us_ein',
  'ca_bn',
  'au_abn',
  'in_gst',
] as const
