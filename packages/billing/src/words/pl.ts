import type { Words } from './words.ts'

/** Polish. */
export const pl: Words = {
  invoice: {
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
    total: 'Razem',
    paidFromCredit: 'Zapłacono ze środków',
    balanceFromBefore: 'Poprzednie saldo',
    amountPaid: 'Zapłacono',
    amountDue: 'Do zapłaty',
    page: 'strona {page} z {pages}',
    creditNote: 'Faktura korygująca',
    forInvoice: 'Do faktury',
    refunded: 'Zwrócono',
    toBalance: 'Dopisano do środków',
    outside: 'Rozliczono w inny sposób',
    taxId: 'NIP',
    reverseCharge: 'Odwrotne obciążenie',
  },
  mail: {
    greeting: 'Dzień dobry, {name},',
    hello: 'Dzień dobry,',
    closing: 'Z poważaniem',
    receipt: {
      subject: 'Potwierdzenie zapłaty od {vendor}',
      text: 'Otrzymaliśmy płatność w kwocie {amount} za {product}. Dziękujemy.',
    },
    payment_failed: {
      subject: 'Płatność na rzecz {vendor} nie powiodła się',
      text: 'Nie udało się pobrać kwoty {amount} za {product}.',
    },
    action_required: {
      subject: 'Prosimy potwierdzić płatność na rzecz {vendor}',
      text: 'Bank prosi o potwierdzenie płatności {amount} za {product}. Do tego czasu nie jest ona zakończona.',
    },
    trial_ending: {
      subject: 'Okres próbny {product} kończy się {date}',
      text: 'Okres próbny {product} kończy się {date}.',
    },
    card_expiring: {
      subject: 'Karta niedługo straci ważność',
      text: 'Karta {card} straci ważność z końcem: {month}. Prosimy podać wcześniej inną, aby płatności za {product} trwały dalej.',
    },
    refunded: {
      subject: 'Zwrot od {vendor}',
      text: 'Zwróciliśmy {amount}. Może minąć kilka dni, zanim kwota pojawi się na koncie.',
    },
    triedAgain: 'Spróbujemy ponownie {date}. Prosimy sprawdzić do tego czasu metodę płatności.',
    lastAttempt: 'Prosimy podać inną metodę płatności, aby subskrypcja mogła trwać dalej.',
    subscriptionFollows:
      'Jeśli nie nastąpi wcześniejsza rezygnacja, subskrypcja będzie trwać dalej i zostanie naliczona opłata.',
    noSubscription: 'Aby dalej korzystać, prosimy wykupić subskrypcję.',
    changeMethod: 'Zmień metodę płatności',
    confirm: 'Potwierdź płatność',
    manage: 'Zarządzaj subskrypcją',
  },
}
