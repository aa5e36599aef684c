import type { Words } from './words.ts'

/** Norwegian. */
export const nb: Words = {
  invoice: {
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
    total: 'Totalt',
    paidFromCredit: 'Betalt fra saldo',
    balanceFromBefore: 'Tidligere saldo',
    amountPaid: 'Betalt beløp',
    amountDue: 'Beløp å betale',
    page: 'side {page} av {pages}',
    creditNote: 'Kreditnota',
    forInvoice: 'Til faktura',
    refunded: 'Refundert',
    toBalance: 'Lagt til saldoen din',
    outside: 'Gjort opp på annen måte',
    taxId: 'Mva-nummer',
    reverseCharge: 'Omvendt avgiftsplikt',
  },
  mail: {
    greeting: 'Hei {name},',
    hello: 'Hei,',
    closing: 'Vennlig hilsen',
    receipt: {
      subject: 'Kvitteringen din fra {vendor}',
      text: 'Vi har mottatt betalingen din på {amount} for {product}. Takk.',
    },
    payment_failed: {
      subject: 'Betalingen din til {vendor} mislyktes',
      text: 'Vi kunne ikke trekke {amount} for {product}.',
    },
    action_required: {
      subject: 'Bekreft betalingen din til {vendor}',
      text: 'Banken din ber deg bekrefte betalingen på {amount} for {product}. Den er ikke fullført før du gjør det.',
    },
    trial_ending: {
      subject: 'Prøveperioden din for {product} slutter {date}',
      text: 'Prøveperioden din for {product} slutter {date}.',
    },
    card_expiring: {
      subject: 'Kortet ditt utløper snart',
      text: 'Kortet ditt {card} utløper ved utgangen av {month}. Oppgi et annet før det, slik at betalingene dine for {product} fortsetter.',
    },
    refunded: {
      subject: 'Refusjonen din fra {vendor}',
      text: 'Vi har refundert {amount} til deg. Det kan ta noen dager før du ser det på kontoen din.',
    },
    triedAgain: 'Vi prøver igjen {date}. Sørg for at betalingsmåten din virker innen da.',
    lastAttempt: 'Oppgi en annen betalingsmåte, slik at abonnementet ditt kan fortsette.',
    subscriptionFollows: 'Hvis du ikke sier opp før det, fortsetter abonnementet og blir belastet.',
    noSubscription: 'Tegn et abonnement hvis du vil fortsette å bruke det.',
    changeMethod: 'Endre betalingsmåte',
    confirm: 'Bekreft betalingen',
    manage: 'Administrer abonnementet',
  },
}
