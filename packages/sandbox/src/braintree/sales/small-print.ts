import type { ErrorCollector } from '../wire/errors.ts'
import { checkLength, type Fields, permitted } from '../wire/validation.ts'

const PATH = ['transaction']
const RISK_PATH = [...PATH, 'risk_data']
const RISK_KEYS = permitted(
  'customer_browser customer_device_id customer_ip customer_location_zip customer_tenure',
)
const EXEMPTIONS = permitted(
  'low_value secure_corporate trusted_beneficiary transaction_risk_analysis',
)
/** Longest text and its code. */
const RISK_LENGTHS = {
  customer_device_id: [128, '94702'],
  customer_location_zip: [9, '94705'],
  customer_tenure: [20, '94706'],
} as const

/** What a sale may say and nobody is shown afterwards: checked, then forgotten. */
export function checkSmallPrint(fields: Fields, errors: ErrorCollector): void {
  const check = (key: string, isRight: (text: string) => boolean, code: string) => {
    const text = fields.text(key)
    if (text !== null && !isRight(text)) errors.add(PATH, key, code)
  }
  check('product_sku', (text) => /^[A-Za-z0-9]+$/.test(text), '915202')
  check('processing_merchant_category_code', (text) => /^\d{4}$/.test(text), '915265')
  check('sca_exemption', (text) => EXEMPTIONS.has(text), '915213')
  checkRiskData(fields.object('risk_data'), errors)
}

function checkRiskData(given: Fields, errors: ErrorCollector): void {
  given.permit(RISK_KEYS)
  for (const [key, [longest, code]] of Object.entries(RISK_LENGTHS)) {
    checkLength(given, key, { path: RISK_PATH, longest, code }, errors)
  }
  if (!/^[A-Za-z0-9 -]*$/.test(given.text('customer_location_zip') ?? '')) {
    errors.add(RISK_PATH, 'customer_location_zip', '94703')
  }
}
