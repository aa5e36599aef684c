import type { Words } from './words.ts'

/** Danish. */
export const da: Words = {
  invoice: {
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
    total: 'I alt',
    paidFromCredit: 'Betalt fra saldo',
    balanceFromBefore: 'Tidligere saldo',
    amountPaid: 'Betalt beløb',
    amountDue: 'At betale',
    page: 'side {page} af {pages}',
    creditNote: 'Kreditnota',
    forInvoice: 'Til faktura',
    refunded: 'Refunderet',
    toBalance: 'Lagt til din saldo',
    outside: 'Afregnet på anden måde',
    taxId: 'Momsnummer',
    reverseCharge: 'Omvendt betalingspligt',
  },
  mail: {
    greeting: 'Hej {name}',
    hello: 'Hej',
    closing: 'Venlig hilsen',
    receipt: {
      subject: 'Din kvittering fra {vendor}',
      text: 'Vi har modtaget din betaling på {amount} for {product}. Tak.',
    },
    payment_failed: {
      subject: 'Din betaling til {vendor} mislykkedes',
      text: 'Vi kunne ikke trække {amount} for {product}.',
    },
    action_required: {
      subject: 'Bekræft din betaling til {vendor}',
      text: 'Din bank beder dig bekræfte betalingen på {amount} for {product}. Den er ikke gennemført, før du gør det.',
    },
    trial_ending: {
      subject: 'Din prøveperiode for {product} slutter den {date}',
      text: 'Din prøveperiode for {product} slutter den {date}.',
    },
    card_expiring: {
      subject: 'Dit kort udløber snart',
      text: 'Dit kort {card} udløber ved udgangen af {month}. Angiv et andet inden da, så dine betalinger for {product} fortsætter.',
    },
    refunded: {
      subject: 'Din refusion fra {vendor}',
      text: 'Vi har refunderet {amount} til dig. Der kan gå nogle dage, før du ser det på din konto.',
    },
    triedAgain: 'Vi prøver igen den {date}. Sørg for, at din betalingsmetode virker til den tid.',
    lastAttempt: 'Angiv en anden betalingsmetode, så dit abonnement kan fortsætte.',
    subscriptionFollows:
      'Hvis du ikke opsiger inden da, fortsætter dit abonnement og bliver opkrævet.',
    noSubscription: 'Tegn et abonnement, hvis du vil blive ved med at bruge det.',
    changeMethod: 'Skift betalingsmetode',
    confirm: 'Bekræft betalingen',
    manage: 'Administrer abonnementet',
  },
}
