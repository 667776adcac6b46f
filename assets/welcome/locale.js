// What this browser knows of where it is: proposals, which people change.

const euro = "AT BE CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK BG".split(" ");
const others = {
  US: "USD",
  GB: "GBP",
  CH: "CHF",
  SE: "SEK",
  NO: "NOK",
  DK: "DKK",
  PL: "PLN",
  CZ: "CZK",
  HU: "HUF",
  RO: "RON",
  TR: "TRY",
  UA: "UAH",
  CA: "CAD",
  MX: "MXN",
  BR: "BRL",
  AR: "ARS",
  CL: "CLP",
  CO: "COP",
  AU: "AUD",
  NZ: "NZD",
  JP: "JPY",
  CN: "CNY",
  KR: "KRW",
  IN: "INR",
  ID: "IDR",
  MY: "MYR",
  TH: "THB",
  VN: "VND",
  SG: "SGD",
  TW: "TWD",
  ZA: "ZAR",
  EG: "EGP",
  NG: "NGN",
  KE: "KES",
  MA: "MAD",
  IL: "ILS",
  SA: "SAR",
  AE: "AED",
};

/** currencies are those that are proposed; others can be typed. */
export const currencies = [...new Set(["EUR", ...Object.values(others)])].sort();

const names = new Intl.DisplayNames(["en"], { type: "currency", fallback: "none" });

/** currencyName gives the name of a currency, "" for a code that is none. */
export function currencyName(code) {
  try {
    return names.of(code) ?? "";
  } catch {
    return "";
  }
}

const locale = () => {
  try {
    return new Intl.Locale(navigator.language);
  } catch {
    return new Intl.Locale("en");
  }
};

/** hereTimezone, hereCurrency and hereWeekStart are this browser's; weeks start at 0 = Monday. */
export const hereTimezone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export function hereCurrency() {
  const region = locale().region ?? "";
  return euro.includes(region) ? "EUR" : (others[region] ?? "");
}

export function hereWeekStart() {
  const here = locale();
  const first = (here.getWeekInfo?.() ?? here.weekInfo)?.firstDay ?? 1; // 1 = Monday … 7 = Sunday
  return first - 1;
}

/** timezones are all that the browser knows, with UTC. */
export const timezones = () =>
  [...new Set([...(Intl.supportedValuesOf?.("timeZone") ?? []), hereTimezone(), "UTC"])].sort();

/** clock tells what time it is in a time zone: "15:28"; "" for one that the browser does not know. */
export function clock(zone) {
  try {
    return new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: zone }).format(new Date());
  } catch {
    return "";
  }
}
