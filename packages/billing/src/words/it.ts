import type { Words } from './words.ts'

/** Italian. */
export const it: Words = {
  invoice: {
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
    total: 'Totale',
    paidFromCredit: 'Pagato con credito',
    balanceFromBefore: 'Saldo precedente',
    amountPaid: 'Importo pagato',
    amountDue: 'Importo dovuto',
    page: 'pagina {page} di {pages}',
    creditNote: 'Nota di credito',
    forInvoice: 'Sulla fattura',
    refunded: 'Rimborsato',
    toBalance: 'Accreditato sul saldo',
    outside: 'Regolato in altro modo',
    taxId: 'Partita IVA',
    reverseCharge: 'Inversione contabile',
  },
  mail: {
    greeting: 'Buongiorno {name},',
    hello: 'Buongiorno,',
    closing: 'Cordiali saluti',
    receipt: {
      subject: 'La sua ricevuta da {vendor}',
      text: 'Abbiamo ricevuto il suo pagamento di {amount} per {product}. Grazie.',
    },
    payment_failed: {
      subject: 'Il suo pagamento a {vendor} non è riuscito',
      text: 'Non è stato possibile addebitare {amount} per {product}.',
    },
    action_required: {
      subject: 'Confermi il suo pagamento a {vendor}',
      text: 'La sua banca le chiede di confermare il pagamento di {amount} per {product}. Fino ad allora non è completo.',
    },
    trial_ending: {
      subject: 'La sua prova di {product} termina il {date}',
      text: 'La sua prova di {product} termina il {date}.',
    },
    card_expiring: {
      subject: 'La sua carta sta per scadere',
      text: 'La sua carta {card} scade alla fine di {month}. Ne indichi un’altra prima di allora perché i pagamenti per {product} continuino.',
    },
    refunded: {
      subject: 'Il suo rimborso da {vendor}',
      text: 'Le abbiamo rimborsato {amount}. Possono passare alcuni giorni prima che l’importo compaia sul suo conto.',
    },
    triedAgain:
      'Riproveremo il {date}. La preghiamo di verificare prima il suo metodo di pagamento.',
    lastAttempt: 'Indichi un altro metodo di pagamento perché il suo abbonamento possa continuare.',
    subscriptionFollows: 'Se non la disdice prima, il suo abbonamento continua e viene addebitato.',
    noSubscription: 'Se desidera continuare a usarlo, si abboni.',
    changeMethod: 'Cambiare il metodo di pagamento',
    confirm: 'Confermare il pagamento',
    manage: 'Gestire l’abbonamento',
  },
}
