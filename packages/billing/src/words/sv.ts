import type { Words } from './words.ts'

/** Swedish. */
export const sv: Words = {
  invoice: {
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
    total: 'Totalt',
    paidFromCredit: 'Betalt från saldo',
    balanceFromBefore: 'Tidigare saldo',
    amountPaid: 'Betalt belopp',
    amountDue: 'Att betala',
    page: 'sida {page} av {pages}',
    creditNote: 'Kreditnota',
    forInvoice: 'Till faktura',
    refunded: 'Återbetalt',
    toBalance: 'Tillgodoräknat ditt saldo',
    outside: 'Reglerat på annat sätt',
    taxId: 'Momsnummer',
    reverseCharge: 'Omvänd betalningsskyldighet',
  },
  mail: {
    greeting: 'Hej {name},',
    hello: 'Hej,',
    closing: 'Vänliga hälsningar',
    receipt: {
      subject: 'Ditt kvitto från {vendor}',
      text: 'Vi har tagit emot din betalning på {amount} för {product}. Tack.',
    },
    payment_failed: {
      subject: 'Din betalning till {vendor} misslyckades',
      text: 'Vi kunde inte dra {amount} för {product}.',
    },
    action_required: {
      subject: 'Bekräfta din betalning till {vendor}',
      text: 'Din bank vill att du bekräftar betalningen på {amount} för {product}. Den är inte klar förrän du gör det.',
    },
    trial_ending: {
      subject: 'Din provperiod för {product} slutar den {date}',
      text: 'Din provperiod för {product} slutar den {date}.',
    },
    card_expiring: {
      subject: 'Ditt kort går snart ut',
      text: 'Ditt kort {card} går ut i slutet av {month}. Ange ett annat före dess så att dina betalningar för {product} fortsätter.',
    },
    refunded: {
      subject: 'Din återbetalning från {vendor}',
      text: 'Vi har återbetalat {amount} till dig. Det kan ta några dagar innan det syns på ditt konto.',
    },
    triedAgain: 'Vi försöker igen den {date}. Se till att ditt betalsätt fungerar till dess.',
    lastAttempt: 'Ange ett annat betalsätt så att din prenumeration kan fortsätta.',
    subscriptionFollows:
      'Om du inte säger upp den dessförinnan fortsätter din prenumeration och debiteras.',
    noSubscription: 'Teckna en prenumeration om du vill fortsätta använda den.',
    changeMethod: 'Ändra betalsätt',
    confirm: 'Bekräfta betalningen',
    manage: 'Hantera prenumerationen',
  },
}
