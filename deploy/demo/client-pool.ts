import { Random } from "./random.js";
import { type Audience, pickUserAgent } from "./user-agents.js";

/** One machine that downloads repeatedly, as parts of a JSON line. Each part starts with a comma or is empty. */
export interface DemoClient {
  /** One address in several notations: `,"$remote_address":"..."`. */
  addresses: readonly string[];
  /** `,"$user_agent":"..."`, or the same within `"$headers"`. */
  agent: string;
}

/**
 * Clients are created once and picked by rank, because a user agent costs more time than the rest of a line,
 * and most real downloads come from few clients.
 */
export function clientPool(audience: Audience, { seed, size }: { seed: number; size: number }): DemoClient[] {
  const purpose = POOL_PURPOSE + AUDIENCES.indexOf(audience);
  return Array.from({ length: size }, (_, rank) => clientAt(audience, Random.at(seed, rank, purpose)));
}

const POOL_PURPOSE = 100;
const AUDIENCES: readonly Audience[] = ["docker", "npm", "hackage", "pypi", "other", "pixel"];

function clientAt(audience: Audience, random: Random): DemoClient {
  const known = !random.chance(0.02);
  return {
    addresses: known
      ? pickAddress(random).map((text) => `,"$remote_address":"${text}"`)
      : ["", ',"$remote_address":null'],
    agent: random.chance(0.03) ? "" : agentField(pickUserAgent(audience, random), random),
  };
}

function agentField(userAgent: string, random: Random): string {
  const text = JSON.stringify(userAgent);
  if (!random.chance(0.06)) return `,"$user_agent":${text}`;
  const name = random.pick(["User-Agent", "user-agent"]);
  return `,"$headers":[{"name":"Accept","value":"*/*"},{"name":"${name}","value":${text}}]`;
}

/** Adds an IPv6 address also in capitals with all zeros, which must count as the same address. */
function pickAddress(random: Random): string[] {
  const { v4, v6 } = pickNetwork(random);
  if (v6 === undefined || !random.chance(0.15)) {
    return [`${random.pick(v4)}.${random.below(256)}.${1 + random.below(254)}`];
  }
  const host = [random, random, random, random].map((source) => (1 + source.below(0xffff)).toString(16));
  const groups = [...v6.split(":"), "1", ...host];
  const padded = groups.map((group) => group.padStart(4, "0"));
  return [groups.join(":"), padded.join(":").toUpperCase()];
}

/** A network of generated clients: whole IPv4 /16 blocks and one IPv6 /48, all announced by `asn`. */
interface DemoNetwork {
  kind: string;
  asn: number;
  v4: readonly string[];
  v6: string | undefined;
  /** The holder as the ASN database writes it. */
  holder: string;
}

/** Picks a network with realistic shares: half clouds, a third homes, the rest companies and universities. */
function pickNetwork(random: Random): DemoNetwork {
  const share = random.share();
  if (share < 0.5) return random.pickSkewed(CLOUDS);
  if (share < 0.82) return random.pickSkewed(ACCESS_PROVIDERS);
  return random.pick(share < 0.93 ? COMPANIES : UNIVERSITIES);
}

// Kind, AS number, IPv4 /16 blocks, IPv6 /48, holder: taken from @ip-location-db/asn. A test checks each against it.
const ROWS = `
cloud 16509 13.205,35.127,56.89,159.47 2600:f000:0 Amazon.com, Inc.
cloud 14618 18.210,54.159 2a11:9c80:0 Amazon.com, Inc.
cloud 396982 34.45,34.148,104.199 2a12:7280:0 Google LLC
cloud 15169 35.213 2c0f:fb50:0 Google LLC
cloud 8075 13.64,40.95,57.41,145.191 2603:1000:0 Microsoft Corporation
cloud 24940 46.225,95.217,176.9 2a12:2240:0 Hetzner Online GmbH
cloud 16276 51.75,57.129,151.80 2607:5300:0 OVH SAS
cloud 14061 107.170,167.99 2400:6180:100 DigitalOcean, LLC
cloud 31898 150.136 2603:c001:0 Oracle Corporation
cloud 45102 43.100,47.86 2a0b:da40:0 Alibaba (US) Technology Co., Ltd.
cloud 132203 43.161 240d:c011:0 Shenzhen Tencent Computer Systems Company Limited
cloud 63949 172.234 2600:3c00:0 Akamai Technologies, Inc.
cloud 12876 62.210 2001:bc8:0 Scaleway SAS
cloud 20473 45.76 2a12:7240:0 The Constant Company, LLC
cloud 36351 169.44 2607:f0d0:0 IBM Cloud
cloud 37963 43.49 2408:4017:0 Hangzhou Alibaba Advertising Co.,Ltd.
isp 7922 67.185,73.203,98.59 2601:a80:0 Comcast Cable Communications, LLC
isp 701 70.107,141.156 2600:4000:0 Verizon Business
isp 7018 45.16,107.100 2602:300:0 AT&T Enterprises, LLC
isp 20115 71.8 2603:6090:0 Charter Communications
isp 22773 70.180 2600:8800:0 Cox Communications Inc.
isp 577 142.113 2604:d40:0 Bell Canada
isp 812 99.236 2a0a:9f00:0 Rogers Communications Canada Inc.
isp 3320 46.95,87.128,93.234 2003:0:0 Deutsche Telekom AG
isp 3209 92.216 2a00:0:0 Vodafone GmbH
isp 3215 86.206,90.120 2a01:c910:0 Orange S.A.
isp 12322 78.250,88.173 2a01:e14:0 Free SAS
isp 2856 81.133,95.150 2a01:4c8:0 British Telecommunications PLC
isp 5089 82.30 2a02:8880:0 Virgin Media Limited
isp 3269 85.32 2a01:2000:0 Telecom Italia S.p.A.
isp 3352 83.47 2a02:9010:46 TELEFONICA DE ESPANA S.A.U.
isp 1136 84.86 2a02:a440:0 KPN B.V.
isp 3301 90.232 2a13:d480:0 Telia Company AB
isp 5617 83.11 2a01:1200:0 Orange Polska Spolka Akcyjna
isp 12389 95.52 2a13:8f00:0 PJSC Rostelecom
isp 5432 91.182 2a02:a000:0 Proximus NV
isp 8447 91.115 2a14:2c0:0 A1 Telekom Austria AG
isp 4134 106.58,180.118 240e:108:4bc1 Chinanet
isp 4837 116.164 2408:8744:0 CHINA UNICOM China169 Backbone
isp 17676 126.185 2400:2000:0 SoftBank Corp.
isp 2516 111.102 240f:0:0 KDDI CORPORATION
isp 4713 153.173 2400:4000:0 NTT Communications Corporation
isp 4766 118.62 2400:156:0 Korea Telecom
isp 9829 117.194,117.240 2001:4490:de4c Bharat Sanchar Nigam Ltd
isp 55836 49.39,157.38 2409:40f4:4000 Reliance Jio Infocomm Limited
isp 28573 179.158,189.101 2804:14d:ec00 Claro NXT Telecomunicacoes Ltda
isp 27699 189.47 2804:431:c7c7 TELEFONICA BRASIL S.A
isp 1221 58.169,124.182 2001:8000:0 Telstra Limited
isp 8151 189.155 2806:1000:301 Uninet S.A. de C.V.
isp 3462 114.27 2001:b042:3801 Chunghwa Telecom Co., Ltd.
company 35039 130.214 2a10:afc1:1000 SAP SE
company 9183 139.15 2a03:cc00:fc1 Robert Bosch Gesellschaft mit Beschraenkter Haftung
company 2047 145.245 2a04:c444:0 Hoffmann - La Roche Ltd.
company 7687 160.246 - TOYOTA SYSTEMS CORPORATION
company 9619 137.153 2001:cf8:0 Sony Global Solutions Inc.
company 4983 143.182 - Intel Corporation
company 109 161.44 2001:420:5000 CISCO SYSTEMS, INC.
company 196 130.76 - The Boeing Company
company 30383 144.72 2620:15e:0 General Motors LLC
company 521 19.129 2620:0:481 Ford Motor Company
company 6195 139.172 - The Goldman Sachs Group, Inc.
company 7743 159.53 2620:11:0 JPMorgan Chase & Co.
company 10361 69.188 - Bloomberg, LP
company 38816 156.31 2403:3300:0 Shell Information Technology International B.V.
company 206720 140.94 2a00:6fc0:0 AIRBUS SAS
company 158 150.236 2001:1b76:0 Ericsson Inc.
company 10455 135.242 2a03:5341:0 Nokia of America Corporation
company 25413 146.106 2a0d:c40:0 ASML Netherlands B.V.
company 14340 136.146 2a03:5d60:0 Salesforce.com, Inc.
company 15224 153.32 2a03:ad40:1000 Adobe Inc.
company 10794 171.164 - Bank of America, National Association
company 714 17.64,17.192 2a01:b747:0 Apple Inc.
company 10235 164.53 - National Australia Bank Limited
visitor 7792 169.4 - 3M Company
visitor 12331 143.164 - Audi AG
visitor 2818 132.185 - BBC
visitor 613 161.100 - BP America, Inc.
visitor 3614 143.166 - Dell, Inc.
visitor 12291 160.54 - Deutsche Post AG
visitor 19679 162.125 - Dropbox, Inc.
visitor 7726 199.81 - FedEx Internet Technologies Corporation
visitor 20478 146.217 - General Mills
visitor 15625 145.221 - ING Bank N.V.
visitor 395266 141.183 - Keysight Technologies, Inc
visitor 31399 53.10 - Mercedes-Benz Group AG
visitor 5049 144.14 - Morgan Stanley Group Inc.
visitor 6445 157.226 - Siemens Corporation
visitor 17052 161.225 - Target Corporation
visitor 8883 137.156 - UBS AG
visitor 32851 161.168 - Wal-Mart Stores, Inc.
visitor 30103 144.195 - Zoom Video Communications, Inc
university 3 18.8,18.26 2804:35c8:0 Massachusetts Institute of Technology
university 32 171.64,171.66 2607:f6d0:0 Stanford University
university 25 136.152 2607:f140:0 University of California at Berkeley
university 9 128.237 2607:fb28:11 Carnegie Mellon University
university 14 129.236 2001:18d8:0 Columbia University
university 2637 130.207 2610:148:0 Georgia Institute of Technology
university 73 128.208 2607:4000:400 University of Washington
university 88 140.180 2604:4540:1000 Princeton University
university 26 128.253 2620:110:d000 Cornell University
university 31 134.4 2607:f520:0 California Institute of Technology
university 36375 35.6 2605:42c0:0 University of Michigan
university 239 142.150 2631:1000:0 University of Toronto
university 12093 129.97 2620:101:f000 University of Waterloo
university 12816 138.246 2001:4ca0:0 Leibniz-Rechenzentrum
university 679 128.131 2001:629:0 Technische Universitat Wien
university 2501 133.11 2404:d540:0 The University of Tokyo
university 28571 143.107 2001:12d0:0 UNIVERSIDADE DE SAO PAULO
university 513 137.138 2001:1458:0 CERN - European Organization for Nuclear Research
`;

export const DEMO_NETWORKS: readonly DemoNetwork[] = ROWS.trim().split("\n").map(parseRow);

const CLOUDS = DEMO_NETWORKS.filter(({ kind }) => kind === "cloud");
const ACCESS_PROVIDERS = DEMO_NETWORKS.filter(({ kind }) => kind === "isp");
const COMPANIES = DEMO_NETWORKS.filter(({ kind }) => kind === "company");
/** Companies of which no random event is: `generate-stories.ts` says what they do. */
export const VISITORS = DEMO_NETWORKS.filter(({ kind }) => kind === "visitor");
const UNIVERSITIES = DEMO_NETWORKS.filter(({ kind }) => kind === "university");

function parseRow(row: string): DemoNetwork {
  const [kind = "", asn = "", v4 = "", v6 = "-", ...holder] = row.split(" ");
  return {
    kind,
    asn: Number(asn),
    v4: v4.split(","),
    v6: v6 === "-" ? undefined : v6,
    holder: holder.join(" "),
  };
}
