/** What an invoice says beside names and numbers. `{page}` and `{pages}` stand for numbers. */
export interface InvoiceWords {
  /** The title of an invoice that is not paid. */
  readonly invoice: string
  /** The title of one that is paid. */
  readonly receipt: string
  /** Before the number. */
  readonly number: string
  /** Before the date. */
  readonly date: string
  /** Above the customer. */
  readonly billedTo: string
  /** Above what was sold. */
  readonly description: string
  /** Above the days it covers. */
  readonly period: string
  /** Above the amounts. */
  readonly amount: string
  /** Before discounts and taxes. */
  readonly subtotal: string
  /** What was taken off. */
  readonly discount: string
  /** A tax on top. */
  readonly tax: string
  /** A tax that is within the total. */
  readonly included: string
  /** Before a tax id of the customer's. */
  readonly taxId: string
  /** That the customer owes the tax to the office, as the law wants it said. */
  readonly reverseCharge: string
  /** What it comes to. */
  readonly total: string
  /** What a balance has paid. */
  readonly paidFromCredit: string
  /** What was owed before. */
  readonly balanceFromBefore: string
  /** What was paid. */
  readonly amountPaid: string
  /** What is left to pay. */
  readonly amountDue: string
  /** At the foot: which page of how many. */
  readonly page: string
}

/** The words of a locale's language; English where we have none. */
export function wordsOf(locale: string): InvoiceWords {
  return WORDS[new Intl.Locale(locale).language] ?? ENGLISH
}

/** Arabic, Hebrew and their kin: the whole page is the other way round. */
export function isRightToLeft(locale: string): boolean {
  return RIGHT_TO_LEFT.has(new Intl.Locale(locale).maximize().script ?? '')
}

const RIGHT_TO_LEFT = new Set(['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo', 'Adlm'])

const ENGLISH: InvoiceWords = {
  invoice: 'Invoice',
  receipt: 'Receipt',
  number: 'Number',
  date: 'Date',
  billedTo: 'Billed to',
  description: 'Description',
  period: 'Period',
  amount: 'Amount',
  subtotal: 'Subtotal',
  discount: 'Discount',
  tax: 'Tax',
  included: 'included',
  taxId: 'Tax ID',
  reverseCharge: 'Reverse charge',
  total: 'Total',
  paidFromCredit: 'Paid from credit',
  balanceFromBefore: 'Balance from before',
  amountPaid: 'Amount paid',
  amountDue: 'Amount due',
  page: 'page {page} of {pages}',
}

const NORWEGIAN: InvoiceWords = {
  invoice: 'Faktura',
  receipt: 'Kvittering',
  number: 'Nummer',
  date: 'Dato',
  billedTo: 'Faktureres til',
  description: 'Beskrivelse',
  period: 'Periode',
  amount: 'Beløp',
  subtotal: 'Delsum',
  discount: 'Rabatt',
  tax: 'Mva.',
  included: 'inkludert',
  taxId: 'Mva-nummer',
  reverseCharge: 'Omvendt avgiftsplikt',
  total: 'Totalt',
  paidFromCredit: 'Betalt fra saldo',
  balanceFromBefore: 'Tidligere saldo',
  amountPaid: 'Betalt beløp',
  amountDue: 'Beløp å betale',
  page: 'side {page} av {pages}',
}

const WORDS: Readonly<Record<string, InvoiceWords>> = {
  en: ENGLISH,
  de: {
    invoice: 'Rechnung',
    receipt: 'Quittung',
    number: 'Nummer',
    date: 'Datum',
    billedTo: 'Rechnungsempfänger',
    description: 'Beschreibung',
    period: 'Zeitraum',
    amount: 'Betrag',
    subtotal: 'Zwischensumme',
    discount: 'Rabatt',
    tax: 'Steuer',
    included: 'enthalten',
    taxId: 'USt-IdNr.',
    reverseCharge: 'Steuerschuldnerschaft des Leistungsempfängers',
    total: 'Gesamtbetrag',
    paidFromCredit: 'Aus Guthaben bezahlt',
    balanceFromBefore: 'Übertrag',
    amountPaid: 'Bezahlter Betrag',
    amountDue: 'Zu zahlen',
    page: 'Seite {page} von {pages}',
  },
  fr: {
    invoice: 'Facture',
    receipt: 'Reçu',
    number: 'Numéro',
    date: 'Date',
    billedTo: 'Facturé à',
    description: 'Description',
    period: 'Période',
    amount: 'Montant',
    subtotal: 'Sous-total',
    discount: 'Remise',
    tax: 'Taxe',
    included: 'incluse',
    taxId: 'Numéro fiscal',
    reverseCharge: 'Autoliquidation',
    total: 'Total',
    paidFromCredit: 'Payé par avoir',
    balanceFromBefore: 'Solde antérieur',
    amountPaid: 'Montant payé',
    amountDue: 'Montant à payer',
    page: 'page {page} sur {pages}',
  },
  es: {
    invoice: 'Factura',
    receipt: 'Recibo',
    number: 'Número',
    date: 'Fecha',
    billedTo: 'Facturado a',
    description: 'Descripción',
    period: 'Periodo',
    amount: 'Importe',
    subtotal: 'Subtotal',
    discount: 'Descuento',
    tax: 'Impuestos',
    included: 'incluidos',
    taxId: 'Número fiscal',
    reverseCharge: 'Inversión del sujeto pasivo',
    total: 'Total',
    paidFromCredit: 'Pagado con saldo',
    balanceFromBefore: 'Saldo anterior',
    amountPaid: 'Importe pagado',
    amountDue: 'Importe a pagar',
    page: 'página {page} de {pages}',
  },
  it: {
    invoice: 'Fattura',
    receipt: 'Ricevuta',
    number: 'Numero',
    date: 'Data',
    billedTo: 'Intestatario',
    description: 'Descrizione',
    period: 'Periodo',
    amount: 'Importo',
    subtotal: 'Subtotale',
    discount: 'Sconto',
    tax: 'Imposta',
    included: 'inclusa',
    taxId: 'Partita IVA',
    reverseCharge: 'Inversione contabile',
    total: 'Totale',
    paidFromCredit: 'Pagato con credito',
    balanceFromBefore: 'Saldo precedente',
    amountPaid: 'Importo pagato',
    amountDue: 'Importo dovuto',
    page: 'pagina {page} di {pages}',
  },
  nl: {
    invoice: 'Factuur',
    receipt: 'Kwitantie',
    number: 'Nummer',
    date: 'Datum',
    billedTo: 'Gefactureerd aan',
    description: 'Omschrijving',
    period: 'Periode',
    amount: 'Bedrag',
    subtotal: 'Subtotaal',
    discount: 'Korting',
    tax: 'Btw',
    included: 'inbegrepen',
    taxId: 'Btw-nummer',
    reverseCharge: 'Btw verlegd',
    total: 'Totaal',
    paidFromCredit: 'Betaald uit tegoed',
    balanceFromBefore: 'Eerder saldo',
    amountPaid: 'Betaald bedrag',
    amountDue: 'Te betalen',
    page: 'pagina {page} van {pages}',
  },
  pt: {
    invoice: 'Fatura',
    receipt: 'Recibo',
    number: 'Número',
    date: 'Data',
    billedTo: 'Faturado a',
    description: 'Descrição',
    period: 'Período',
    amount: 'Valor',
    subtotal: 'Subtotal',
    discount: 'Desconto',
    tax: 'Imposto',
    included: 'incluído',
    taxId: 'Número fiscal',
    reverseCharge: 'Autoliquidação',
    total: 'Total',
    paidFromCredit: 'Pago com crédito',
    balanceFromBefore: 'Saldo anterior',
    amountPaid: 'Valor pago',
    amountDue: 'Valor a pagar',
    page: 'página {page} de {pages}',
  },
  pl: {
    invoice: 'Faktura',
    receipt: 'Potwierdzenie zapłaty',
    number: 'Numer',
    date: 'Data',
    billedTo: 'Nabywca',
    description: 'Opis',
    period: 'Okres',
    amount: 'Kwota',
    subtotal: 'Suma częściowa',
    discount: 'Rabat',
    tax: 'Podatek',
    included: 'wliczony',
    taxId: 'NIP',
    reverseCharge: 'Odwrotne obciążenie',
    total: 'Razem',
    paidFromCredit: 'Zapłacono ze środków',
    balanceFromBefore: 'Poprzednie saldo',
    amountPaid: 'Zapłacono',
    amountDue: 'Do zapłaty',
    page: 'strona {page} z {pages}',
  },
  sv: {
    invoice: 'Faktura',
    receipt: 'Kvitto',
    number: 'Nummer',
    date: 'Datum',
    billedTo: 'Faktureras till',
    description: 'Beskrivning',
    period: 'Period',
    amount: 'Belopp',
    subtotal: 'Delsumma',
    discount: 'Rabatt',
    tax: 'Moms',
    included: 'inkluderad',
    taxId: 'Momsnummer',
    reverseCharge: 'Omvänd betalningsskyldighet',
    total: 'Totalt',
    paidFromCredit: 'Betalt från saldo',
    balanceFromBefore: 'Tidigare saldo',
    amountPaid: 'Betalt belopp',
    amountDue: 'Att betala',
    page: 'sida {page} av {pages}',
  },
  da: {
    invoice: 'Faktura',
    receipt: 'Kvittering',
    number: 'Nummer',
    date: 'Dato',
    billedTo: 'Faktureres til',
    description: 'Beskrivelse',
    period: 'Periode',
    amount: 'Beløb',
    subtotal: 'Subtotal',
    discount: 'Rabat',
    tax: 'Moms',
    included: 'inkluderet',
    taxId: 'Momsnummer',
    reverseCharge: 'Omvendt betalingspligt',
    total: 'I alt',
    paidFromCredit: 'Betalt fra saldo',
    balanceFromBefore: 'Tidligere saldo',
    amountPaid: 'Betalt beløb',
    amountDue: 'At betale',
    page: 'side {page} af {pages}',
  },
  nb: NORWEGIAN,
  no: NORWEGIAN,
  he: {
    invoice: 'חשבונית',
    receipt: 'קבלה',
    number: 'מספר',
    date: 'תאריך',
    billedTo: 'לכבוד',
    description: 'תיאור',
    period: 'תקופה',
    amount: 'סכום',
    subtotal: 'סכום ביניים',
    discount: 'הנחה',
    tax: 'מס',
    included: 'כלול',
    taxId: 'מספר עוסק',
    reverseCharge: 'חיוב הפוך',
    total: 'סה״כ',
    paidFromCredit: 'שולם מיתרת זכות',
    balanceFromBefore: 'יתרה קודמת',
    amountPaid: 'סכום ששולם',
    amountDue: 'סכום לתשלום',
    page: 'עמוד {page} מתוך {pages}',
  },
  ar: {
    invoice: 'فاتورة',
    receipt: 'إيصال',
    number: 'الرقم',
    date: 'التاريخ',
    billedTo: 'فاتورة إلى',
    description: 'الوصف',
    period: 'الفترة',
    amount: 'المبلغ',
    subtotal: 'المجموع الفرعي',
    discount: 'خصم',
    tax: 'الضريبة',
    included: 'مشمولة',
    taxId: 'الرقم الضريبي',
    reverseCharge: 'الاحتساب العكسي',
    total: 'الإجمالي',
    paidFromCredit: 'مدفوع من الرصيد',
    balanceFromBefore: 'رصيد سابق',
    amountPaid: 'المبلغ المدفوع',
    amountDue: 'المبلغ المستحق',
    page: 'صفحة {page} من {pages}',
  },
}
