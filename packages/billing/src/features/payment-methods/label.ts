import type { PaymentMethodKind, ProviderPaymentMethod } from '../../providers/payment-method.ts'

type Labelled = Pick<ProviderPaymentMethod, 'kind' | 'brand' | 'lastFour' | 'email' | 'bank'>

/**
 * Brand names, which are the same in all languages. Other brands are shown as the provider writes
 * them.
 */
const NAMES: Readonly<Record<string, string>> = {
  alipay: 'Alipay',
  amazon_pay: 'Amazon Pay',
  american_express: 'American Express',
  amex: 'American Express',
  apple_pay: 'Apple Pay',
  cartes_bancaires: 'Cartes Bancaires',
  cashapp: 'Cash App Pay',
  diners: 'Diners Club',
  discover: 'Discover',
  eftpos_au: 'eftpos',
  google_pay: 'Google Pay',
  grabpay: 'GrabPay',
  jcb: 'JCB',
  kakao_pay: 'Kakao Pay',
  link: 'Link',
  mastercard: 'Mastercard',
  mobilepay: 'MobilePay',
  naver_pay: 'Naver Pay',
  payco: 'PAYCO',
  paypay: 'PayPay',
  revolut_pay: 'Revolut Pay',
  samsung_pay: 'Samsung Pay',
  satispay: 'Satispay',
  unionpay: 'UnionPay',
  venmo: 'Venmo',
  visa: 'Visa',
  wechat_pay: 'WeChat Pay',
}

type Words = Readonly<Record<Exclude<PaymentMethodKind, 'paypal'>, string>>

const ENGLISH = createLabelWords('Card', 'Bank debit', 'Wallet', 'Payment method')

/** Names of kinds by language, for payment methods without a brand. */
const WORDS: Readonly<Record<string, Words>> = {
  ar: createLabelWords('بطاقة', 'خصم مباشر', 'محفظة', 'وسيلة دفع'),
  da: createLabelWords('Kort', 'Direkte debitering', 'Wallet', 'Betalingsmiddel'),
  de: createLabelWords('Karte', 'Lastschrift', 'Wallet', 'Zahlungsmethode'),
  en: ENGLISH,
  es: createLabelWords('Tarjeta', 'Adeudo bancario', 'Monedero', 'Medio de pago'),
  fr: createLabelWords('Carte', 'Prélèvement bancaire', 'Portefeuille', 'Moyen de paiement'),
  he: createLabelWords('כרטיס', 'חיוב חשבון בנק', 'ארנק', 'אמצעי תשלום'),
  it: createLabelWords('Carta', 'Addebito bancario', 'Portafoglio', 'Metodo di pagamento'),
  nb: createLabelWords('Kort', 'Direktebelastning', 'Lommebok', 'Betalingsmiddel'),
  nl: createLabelWords('Kaart', 'Automatische incasso', 'Wallet', 'Betaalmethode'),
  pl: createLabelWords('Karta', 'Polecenie zapłaty', 'Portfel', 'Metoda płatności'),
  pt: createLabelWords('Cartão', 'Débito bancário', 'Carteira', 'Meio de pagamento'),
  sv: createLabelWords('Kort', 'Autogiro', 'Plånbok', 'Betalningssätt'),
}

function createLabelWords(card: string, bank_debit: string, wallet: string, other: string): Words {
  return { card, bank_debit, wallet, other }
}

/** Returns a short text by which customers recognize a payment method, such as `Visa •••• 4242`. */
export function formatPaymentMethodLabel(method: Labelled, locale: string): string {
  const { kind, lastFour, email, bank } = method
  if (kind === 'paypal') return email === null ? 'PayPal' : `PayPal (${email})`
  const said = wordsOf(locale)[kind]
  const name = kind === 'bank_debit' ? appendBankName(said, bank) : (nameOf(method.brand) ?? said)
  return lastFour === null ? name : `${name} •••• ${lastFour}`
}

function wordsOf(locale: string): Words {
  const { language } = new Intl.Locale(locale)
  return WORDS[language === 'no' ? 'nb' : language] ?? ENGLISH
}

function appendBankName(labelText: string, bank: string | null): string {
  return bank === null ? labelText : `${labelText} (${bank})`
}

/**
 * Returns the brand name. Stripe writes `visa` and `diners`, Braintree `Visa` and `Diners Club`.
 */
function nameOf(brand: string | null): string | null {
  if (brand === null || brand === 'unknown' || brand === 'Unknown') return null
  const key = brand.toLowerCase().replaceAll(' ', '_')
  return Object.hasOwn(NAMES, key) ? (NAMES[key] ?? null) : brand
}
